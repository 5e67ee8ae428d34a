// A whitelist that has passed all checks and is ready for look-ups, with the store that confirms its hits if it has
// one, and a description for the log. The supervisor makes it at the start and at each reload. From then on all
// sessions share it, and nothing changes except the damage that is found. Filter and store are one object, so no thread
// ever sees one of them with the counterpart of another.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "filter/file/mapped_filter.hpp"
#include "filter/keep/manifest.hpp"
#include "filter/store/store_file.hpp"
#include "milter/lists/store_readers.hpp"
#include "milter/policy/lists.hpp"

namespace bloomgate {

enum class FilterCheck {
  all,            // every byte
  all_when_idle,  // the same while mail is served, which comes first: a large file is checked by threads that run only
                  // when no other work waits
  header,         // only the header, which takes no time: for `explain`
};

// What has happened to the file of a whitelist in use.
enum class Damage : std::uint8_t {
  none,
  unreadable,        // a part of it is missing, or the disk cannot read it
  written_to,        // a program has written to it in place
  spoiled,           // its bytes differ from when it was loaded
  store_written_to,  // a program has written to its store in place
};

// "was changed in place while it was in use": the text after the file's name in a log line. Empty for `none`.
std::string_view damage_text(Damage damage) noexcept;

class LoadedFilter final : public Whitelist {
 public:
  // Opens the files, checks every byte of the filter, which also loads it into memory, and keeps it there if `lock` is
  // set. For the store it checks what open_store() checks; each page is checked when it is read. An empty `store_path`
  // means no store. With trusted keys, one of them must have signed the filter (MappedFilter::verify_body()), but not
  // the store; if only the header is checked, its signature is. With `published`, the file must be that one:
  // require_published(). Throws BloomgateError, with changed_while_open if a program writes to the filter meanwhile,
  // and bad_input if filter and store do not belong together. Cost: the time to read the filter and the store's index
  // once.
  LoadedFilter(const std::string& path, bool lock, FilterCheck check = FilterCheck::all,
               const std::string& store_path = {}, const TrustedKeys& trusted_keys = {},
               const PublishedFile* published = nullptr);

  const FilterView& view() const noexcept override { return file_.view(); }

  std::optional<StoreQuestion> question_about(std::string_view key) const noexcept override;

  bool has_neighbours(std::string_view neighbours_key) const noexcept override {
    return view().has_neighbours(neighbours_key);
  }

  // Asks the store, which must exist, whether it has the hash. Returns at `deadline` at the latest; faults of the disk
  // are noted. `before_waiting` as in StoreReaders::find().
  Confirmation confirm(KeyHash hash, StoreReaders::Clock::time_point deadline,
                       const std::function<void()>& before_waiting) const noexcept;

  // Asks the system at each call whether a program has written to the filter. So a call after a look-up covers that
  // look-up, within the limits of MappedFilter::state(). Cost: about 0.2 µs.
  bool damaged() const noexcept override { return damage() != Damage::none; }

  // The first damage that was found; it never changes afterwards. Safe from any thread.
  Damage damage() const noexcept;
  void note_damage(Damage damage) const noexcept;

  // Whether the store has failed in that way since it was loaded.
  bool store_had(Confirmation fault) const noexcept {
    return (store_faults_.load(std::memory_order_relaxed) & bit_of(fault)) != 0;
  }

  // True once for each way in which the store fails. Safe from any thread.
  bool first_to_report_store_faults() const noexcept;

  // True only at the first call, for the thread that meets the damage first. Safe from any thread.
  bool first_to_report_damage() const noexcept { return !damage_reported_.test_and_set(); }

  const MappedFilter& file() const noexcept { return file_; }
  const StoreFile* store() const noexcept { return store_.get(); }  // null: there is none
  const std::string& path() const noexcept { return file_.path(); }
  const FilterHeader& header() const noexcept { return file_.header(); }
  std::chrono::system_clock::time_point loaded_at() const noexcept { return loaded_at_; }

  // Checks that the manifest means the mapped file, which the path may no longer name. Throws
  // BloomgateError{bad_signature} unless one of the keys has signed it, {bad_input} with the remedy unless it has the
  // size and the header of `published`, and {changed_while_open, cannot_read}.
  void require_published(const PublishedFile& published, const TrustedKeys& trusted_keys) const;

  // Whether `path` leads to the filter or to the store in use.
  bool is_used(const std::string& path) const noexcept;

  // The key that has signed the filter; nothing if no key was required when it was loaded.
  const std::optional<PublicKey>& signer() const noexcept { return signer_; }

  // The expected rate of one look-up, computed from the fill; with a store, the rate of both together. Cost: up to a
  // millisecond.
  double false_positive_rate() const noexcept;

  // "/var/lib/bloomgate/whitelist.bloom: 10 entries, 32768 bits, expected false-positive rate 2.16 % per look-up": one
  // line, safe to log. With a store it has "confirmed by /var/lib/bloomgate/whitelist.store, " before the rate, and
  // with a signer "signed by KEY, ". With pairs it says "10 entries, with pairs, 32768 bits".
  std::string description() const;

 private:
  static constexpr unsigned bit_of(Confirmation fault) noexcept { return 1U << static_cast<unsigned>(fault); }

  MappedFilter file_;
  std::shared_ptr<const StoreFile> store_;  // shared with the readers
  std::unique_ptr<StoreReaders> readers_;
  std::optional<PublicKey> signer_;
  std::chrono::system_clock::time_point loaded_at_;
  mutable std::atomic<Damage> damage_{Damage::none};
  mutable std::atomic_flag damage_reported_;
  mutable std::atomic<unsigned> store_faults_{0};  // bits of Confirmation
  mutable std::atomic<unsigned> store_faults_reported_{0};
};

// "2.16 %"; for a confirmed whitelist, whose rate is too small to measure, "below 1 in 10^9".
std::string rate_text(double rate, bool is_confirmed);

}  // namespace bloomgate
