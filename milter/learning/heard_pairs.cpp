#include "milter/learning/heard_pairs.hpp"

#include <algorithm>
#include <filesystem>

#include "filter/base/error.hpp"
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
  const std::optional<Day> day = table->find(key_.hash_of_pair(user, correspondent));
  if (!day || name_either(*pending, key_, user, correspondent)) return std::nullopt;
  return day;
}

std::optional<HeardPairs::Day> HeardPairs::find_domain(std::string_view domain) const noexcept {
  return table()->find_domain(key_.hash_of_domain(domain));
}

std::shared_ptr<PairTable> HeardPairs::table() const noexcept {
  const std::lock_guard lock(mutex_);
  return table_;
}

void HeardPairs::apply(const SharedPairs& pairs, PairTable& table) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const SharedRecord record = pairs[i];
    switch (record.kind) {
      case SharedKind::pair:
        table.put(record.hash, record.second, record.day);
        break;
      case SharedKind::gone:
        table.remove(record.hash);
        break;
      case SharedKind::person:
        people_[static_cast<std::int64_t>(record.second)] = record.hash;
        break;
      case SharedKind::applied:
        applied_[record.hash] = static_cast<std::int64_t>(record.second);
        break;
    }
  }
  header_ = pairs.header();
}

// If the first file is the one that was taken, the rest is new on top of it, or says once more what is known already:
// files are united in their order.
void HeardPairs::take(const std::string& folder, const Manifest& manifest) {
  const bool goes_on = !taken_.empty() && !manifest.files.empty() && manifest.files.front() == taken_.front();
  std::vector<std::string> bytes;
  std::vector<SharedPairs> files;
  std::vector<PublishedFile> fresh;
  for (const PublishedFile& file : manifest.files) {
    if (goes_on && std::ranges::find(taken_, file) != taken_.end()) continue;
    fresh.push_back(file);
  }
  bytes.reserve(fresh.size());  // the views stay
  for (const PublishedFile& file : fresh) {
    const std::string path = (std::filesystem::path(folder) / file.name).string();
    bytes.push_back(read_shared_file(folder, file));
    files.emplace_back(bytes.back(), path);
    const SharedHeader& header = files.back().header();
    if (header.key_check != key_.check()) {
      throw BloomgateError(ErrorCode::bad_input,
                           path + " was made with another key than the one of learn-key: all hosts need the same file",
                           {.path = path});
    }
    const std::uint64_t source = goes_on ? header_.source : files.front().header().source;
    if (header.source != source || header.is_whole != (!goes_on && files.size() == 1)) {
      throw BloomgateError(ErrorCode::bad_input, path + " does not go on from the files before it; share them again",
                           {.path = path});
    }
  }
  std::shared_ptr<PairTable> table = goes_on ? this->table() : std::make_shared<PairTable>();
  if (!goes_on) {
    people_.clear();
    applied_.clear();
  }
  for (const SharedPairs& each : files) apply(each, *table);
  taken_ = manifest.files;
  const std::lock_guard lock(mutex_);
  table_ = std::move(table);
}

void HeardPairs::clear() {
  taken_.clear();
  header_ = {};
  people_.clear();
  applied_.clear();
  const std::lock_guard lock(mutex_);
  table_ = std::make_shared<PairTable>();
  pending_ = std::make_shared<const ForgottenPeople>();
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
