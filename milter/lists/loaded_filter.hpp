// A whitelist that has passed all checks and is ready for look-ups, with the store that confirms its hits if it has
// one, and its description for the log. The supervisor makes it at the start and at each reload. From then on all
// sessions share it, and nothing changes except the damage that is found. Filter and store are one object, so nobody
// ever sees one of them beside another's counterpart.
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
  all_when_idle,  // the same beside mail, which comes first: of a large file, by threads that run when nobody else
                  // wants to
  header,         // the header, which takes no time: for --explain
};

// What has happened to the file of a whitelist that is in use.
enum class Damage : std::uint8_t {
  none,
  unreadable,        // a part of it is gone, or the disk cannot read it
  written_to,        // somebody has written to it in place
  spoiled,           // its bytes are no longer what they were when it was loaded
  store_written_to,  // somebody has written to its store in place
};

// "was changed in place while it was in use": the text after the file's name in a log line. Empty for none.
std::string_view damage_text(Damage damage) noexcept;

class LoadedFilter final : public Whitelist {
 public:
  // Opens the files, checks every byte of the filter, which also brings it into memory, and keeps it there if `lock` is
  // set. Of the store it checks what open_store() checks; each page is checked when it is read. Throws BloomgateError,
  // with changed_while_open if somebody writes to the filter meanwhile, and bad_input if the two do not belong
  // together. Without a path for the store there is none. Cost: the time to read the filter and the store's index once.
  // With trusted keys one of them must have signed the filter (MappedFilter::verify_body()), not the store; of the
  // header alone, its signature is checked. With `published`, the file has to be that one: require_published().
  LoadedFilter(const std::string& path, bool lock, FilterCheck check = FilterCheck::all,
               const std::string& store_path = {}, const TrustedKeys& trusted_keys = {},
               const PublishedFile* published = nullptr);

  const FilterView& view() const noexcept override { return file_.view(); }

  std::optional<StoreQuestion> question_about(std::string_view key) const noexcept override;

  bool has_neighbours(std::string_view neighbours_key) const noexcept override {
    return view().has_neighbours(neighbours_key);
  }

  // Asks the store, of which there must be one, whether it has the hash. Returns at `deadline` at the latest; what the
  // disk is found to be like is noted. `before_waiting` as in StoreReaders::find().
  Confirmation confirm(KeyHash hash, StoreReaders::Clock::time_point deadline,
                       const std::function<void()>& before_waiting) const noexcept;

  // Asks the system at each call whether somebody has written to the filter. So a call after a look-up covers that
  // look-up, within the limits of MappedFilter::state(). Cost: some 0.2 µs.
  bool damaged() const noexcept override { return damage() != Damage::none; }

  // The first damage that was found; it stays so from then on. Safe from any thread.
  Damage damage() const noexcept;
  void note_damage(Damage damage) const noexcept;

  // Whether the store has failed in that way since it was loaded.
  bool store_had(Confirmation fault) const noexcept {
    return (store_faults_.load(std::memory_order_relaxed) & bit_of(fault)) != 0;
  }

  // True once for each way in which the store turns out to fail. Safe from any thread.
  bool first_to_report_store_faults() const noexcept;

  // True only at the first call, for the thread that meets the damage first. Safe from any thread.
  bool first_to_report_damage() const noexcept { return !damage_reported_.test_and_set(); }

  const MappedFilter& file() const noexcept { return file_; }
  const StoreFile* store() const noexcept { return store_.get(); }  // null: there is none
  const std::string& path() const noexcept { return file_.path(); }
  const FilterHeader& header() const noexcept { return file_.header(); }
  std::chrono::system_clock::time_point loaded_at() const noexcept { return loaded_at_; }

  // That the manifest means the file that is mapped, which the path may no longer lead to. Throws
  // BloomgateError{bad_signature} unless one of the keys has signed it, {bad_input} with the remedy unless it has the
  // size and the header of `published`, and {changed_while_open, cannot_read}.
  void require_published(const PublishedFile& published, const TrustedKeys& trusted_keys) const;

  // Whether `path` leads to the filter or to the store in use.
  bool is_used(const std::string& path) const noexcept;

  // Who has signed it; nothing where no key was asked for when it was loaded.
  const std::optional<PublicKey>& signer() const noexcept { return signer_; }

  // Of one look-up, expected from the fill; with a store, of the two together. Cost: up to a millisecond.
  double false_positive_rate() const noexcept;

  // "/var/lib/bloomgate/whitelist.bloom: 10 entries, 32768 bits, expected false-positive rate 2.16 % per look-up", with
  // "confirmed by /var/lib/bloomgate/whitelist.store, " before the rate where there is a store: on one line, safe to
  // log. Where it holds pairs, "10 entries, with pairs, 32768 bits"; with a signer, "signed by KEY, "
  // before the rate.
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

// "2.16 %"; of confirmed whitelists, whose rate nobody can measure, "below 1 in 10^9".
std::string rate_text(double rate, bool is_confirmed);

}  // namespace bloomgate
