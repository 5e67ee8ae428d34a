#include "milter/lists/loaded_filter.hpp"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

#include <array>
#include <cmath>

#include "config/enum_words.hpp"
#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/file/signature.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/system/file_io.hpp"
#include "milter/lists/published_lists.hpp"

namespace bloomgate {
namespace {

constexpr double kUnmeasurableRate = 1e-9;

// A MiB takes about 0.3 ms of one processor, with trusted keys 1.4 ms. If the check takes less than a scheduler's time
// slice, it delays no other work.
constexpr std::chrono::milliseconds kPatiencePerMiB{5};
constexpr std::uint64_t kLargeBytes = std::uint64_t{64} << 20;

}  // namespace

std::string_view damage_text(Damage damage) noexcept {
  using enum Damage;
  static constexpr auto kWords =
      enum_words<Damage>({{none, ""},
                          {unreadable, "can no longer be read in full"},
                          {written_to, "was changed in place while it was in use"},
                          {spoiled, "is not what it was when it was loaded"},
                          {store_written_to, "has a store that was changed in place while it was in use"}});
  return word_of(kWords, damage);
}

LoadedFilter::LoadedFilter(const std::string& path, bool lock, FilterCheck check, const std::string& store_path,
                           const TrustedKeys& trusted_keys, const PublishedFile* published)
    : file_(path) {
  file_.require_no_counters();
  // Before the filter is checked, which takes longer: the two files are replaced one after the other.
  if (!store_path.empty()) {
    store_ = open_store(store_path, file_.header().store_identity, path);
    readers_ = std::make_unique<StoreReaders>(
        StoreReaders::Source{.find_cached = [store = store_](KeyHash hash) { return store->find_cached(hash); },
                             .find = [store = store_](KeyHash hash) { return store->find(hash); }});
  }
  if (!trusted_keys.empty()) {
    file_.require_signer(trusted_keys);
    signer_ = file_.signature()->signer;
  }
  if (published != nullptr) require_published(*published, trusted_keys);  // before the whole of a large file is read
  if (check != FilterCheck::header) {
    const bool when_idle = check == FilterCheck::all_when_idle && file_.body_bytes() >= kLargeBytes;
    file_.verify_body(0, {}, trusted_keys, when_idle ? std::optional(kPatiencePerMiB) : std::nullopt);
  }
  if (lock) file_.lock_in_memory();
  loaded_at_ = std::chrono::system_clock::now();
}

Damage LoadedFilter::damage() const noexcept {
  if (const Damage known = damage_.load(std::memory_order_acquire); known != Damage::none) return known;
  switch (file_.state()) {
    case MappedFilter::State::whole:
      return Damage::none;
    case MappedFilter::State::unreadable:
      note_damage(Damage::unreadable);
      break;
    case MappedFilter::State::written_to:
      note_damage(Damage::written_to);
      break;
  }
  return damage_.load(std::memory_order_acquire);
}

void LoadedFilter::note_damage(Damage damage) const noexcept {
  Damage none = Damage::none;
  damage_.compare_exchange_strong(none, damage);
}

// Examines the open file, since another file may have its name by now. Its times show whether it was written to since
// it was opened.
void LoadedFilter::require_published(const PublishedFile& published, const TrustedKeys& trusted_keys) const {
  file_.require_signer(trusted_keys);
  std::array<std::byte, kHeaderBytes> header_bytes;
  if (const int error = read_at(file_.descriptor(), header_bytes, 0); error != 0) {
    throw system_error(ErrorCode::cannot_read, "read", path(), error);
  }
  require_as_named(published, path(), {file_.stamp().size_bytes(), digest_of(header_bytes)});
  file_.require_whole();
}

bool LoadedFilter::is_used(const std::string& path) const noexcept {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return false;
  const FileStamp there(status);
  return there.is_same_file(file_.stamp()) || (store_ && there.is_same_file(store_->stamp()));
}

std::optional<StoreQuestion> LoadedFilter::question_about(std::string_view key) const noexcept {
  if (!store_) return std::nullopt;
  return StoreQuestion{store_->identity(), store_->hash_of(key)};
}

Confirmation LoadedFilter::confirm(KeyHash hash, StoreReaders::Clock::time_point deadline,
                                   const std::function<void()>& before_waiting) const noexcept {
  const Confirmation confirmation = readers_->find(hash, deadline, before_waiting);
  // The page may be from before or after the write.
  if (!store_->is_unchanged()) {
    note_damage(Damage::store_written_to);
    return Confirmation::damaged;
  }
  if (confirmation != Confirmation::yes && confirmation != Confirmation::no) {
    store_faults_.fetch_or(bit_of(confirmation), std::memory_order_relaxed);
  }
  return confirmation;
}

bool LoadedFilter::first_to_report_store_faults() const noexcept {
  const unsigned faults = store_faults_.load(std::memory_order_relaxed);
  if (faults == store_faults_reported_.load(std::memory_order_relaxed)) return false;  // almost always
  return (faults & ~store_faults_reported_.fetch_or(faults)) != 0;
}

// A non-member is found in the store if its hash equals one of the n hashes there, with a probability of 2^-64 for
// each. The bits may be computed from the same hash, and then contain that non-member, too.
double LoadedFilter::false_positive_rate() const noexcept {
  return store_ ? std::ldexp(static_cast<double>(store_->header().addresses), -64) : expected_fpr_of(header());
}

std::string LoadedFilter::description() const {
  const FilterHeader& header = file_.header();
  return fmt::format(
      "{}: {} {}, {}{} bits, {}{}expected false-positive rate {} per look-up", printable(path()), entries_of(header),
      word_for(entries_of(header), "entry", "entries"), header.kinds.any_pairs() ? "with pairs, " : "",
      view().body().size() * 8, store_ ? "confirmed by " + printable(store_->path()) + ", " : "",
      signer_ ? "signed by " + signer_->text() + ", " : "", rate_text(false_positive_rate(), store_ != nullptr));
}

std::string rate_text(double rate, bool is_confirmed) {
  return is_confirmed && rate < kUnmeasurableRate ? "below 1 in 10^9" : format_percent(rate);
}

}  // namespace bloomgate
