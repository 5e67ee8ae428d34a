#include "milter/learning/heard_pairs.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/learned/is_of_people.hpp"
#include "filter/share/shared_folder.hpp"

namespace bloomgate {

bool name_either(const ForgottenPeople& people, const LearnKey& key, std::string_view user,
                 std::string_view correspondent) noexcept {
  if (people.empty()) return false;
  const auto is_forgotten = [&](std::string_view text) noexcept {
    return people.contains(key.hash_of_person(Forgets::hash_of_key(text)));
  };
  return is_of_people(user, is_forgotten) || is_of_people(correspondent, is_forgotten);
}

HeardPairs::HeardPairs(const LearnKey& key)
    : key_(key), table_(std::make_shared<PairTable>()), pending_(std::make_shared<const ForgottenPeople>()) {}

std::optional<HeardPairs::Day> HeardPairs::find(std::string_view user, std::string_view correspondent) const noexcept {
  std::shared_ptr<PairTable> table;
  std::shared_ptr<const ForgottenPeople> pending;
  {
    const std::lock_guard lock(mutex_);
    table = table_;
    pending = pending_;
  }
  const std::optional<Day> day = table->find(mixed(key_.hash_of_pair(user, correspondent)));
  if (!day || name_either(*pending, key_, user, correspondent)) return std::nullopt;
  return day;
}

std::optional<HeardPairs::Day> HeardPairs::find_domain(std::string_view domain) const noexcept {
  return table()->find_domain(mixed(key_.hash_of_domain(domain)));
}

std::shared_ptr<PairTable> HeardPairs::table() const noexcept {
  const std::lock_guard lock(mutex_);
  return table_;
}

KeyHash HeardPairs::mixed(std::uint64_t hash) const noexcept {
  std::array<std::byte, sizeof hash> text;
  store_little_endian(text.data(), hash);
  return hash_key({reinterpret_cast<const char*>(text.data()), text.size()}, seed_);
}

void HeardPairs::apply(const SharedPairs& pairs, PairTable& table) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const SharedRecord record = pairs[i];
    switch (record.kind) {
      case SharedKind::pair:
        table.put(mixed(record.hash), record.day);
        break;
      case SharedKind::domain:
        table.put_domain(mixed(record.hash), record.day);
        break;
      case SharedKind::gone:
        table.remove(mixed(record.hash));
        break;
      case SharedKind::person:
        people_[static_cast<std::int64_t>(record.second)] = record.hash;
        if (people_.size() > kMostPeople) people_.erase(people_.begin());
        break;
      case SharedKind::applied:
        if (applied_.size() < kMostApplied || applied_.contains(record.hash)) {
          applied_[record.hash] = static_cast<std::int64_t>(record.second);
        }
        break;
    }
  }
  header_ = pairs.header();
}

// If the first file is the one that was already loaded, the rest adds to it, or repeats what is known: files are united
// in their order. One file is in memory at a time.
void HeardPairs::take(const std::string& folder, const SignedManifest& manifest) {
  const std::vector<PublishedFile>& files = manifest.manifest.files;
  const bool goes_on = !taken_.empty() && !files.empty() && files.front() == taken_.front();
  const std::shared_ptr<PairTable> table = goes_on ? this->table() : std::make_shared<PairTable>();
  bool is_first = !goes_on;
  for (const PublishedFile& file : files) {
    if (goes_on && std::ranges::find(taken_, file) != taken_.end()) continue;
    const std::string path = (std::filesystem::path(folder) / file.name).string();
    const std::string bytes = read_shared_file(folder, file);
    const SharedPairs pairs(bytes, path);
    const auto refuse = [&](const std::string& what) {
      throw BloomgateError(ErrorCode::bad_input, path + what, {.path = path});
    };
    const SharedHeader& header = pairs.header();
    if (header.key_check != key_.check()) {
      refuse(" was made with another key than the one of learn-key: all hosts need the same file");
    }
    if (header.is_whole != is_first || (!is_first && header.source != header_.source)) {
      refuse(" does not go on from the files before it; share them again");
    }
    if (table->size() + pairs.size() > 2 * kMostLearned) refuse(" has more pairs than one host can have learned");
    if (is_first) {
      people_.clear();
      applied_.clear();
      taken_.clear();
    }
    apply(pairs, *table);
    is_first = false;
  }
  taken_ = files;
  host_ = host_id(manifest.signer);
  const std::lock_guard lock(mutex_);
  table_ = table;
}

void HeardPairs::clear_pairs() {
  taken_.clear();
  const std::lock_guard lock(mutex_);
  table_ = std::make_shared<PairTable>();
}

void HeardPairs::set_pending(ForgottenPeople people) {
  auto pending = std::make_shared<const ForgottenPeople>(std::move(people));
  const std::lock_guard lock(mutex_);
  pending_ = std::move(pending);
}

std::size_t HeardPairs::size() const noexcept {
  return table()->size();
}

std::size_t HeardPairs::bytes() const noexcept {
  return table()->bytes();
}

}  // namespace bloomgate
