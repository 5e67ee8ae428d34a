// Checks a filter, a store, or each layer of a folder: the whole file against its checksums and its signature; that it
// holds the given lists; and that its rate of false positives is the one that its bits predict. Used by `bloomgate
// verify`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "filter/base/public_key.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/signature.hpp"
#include "filter/inputs/confirmation.hpp"
#include "filter/inputs/count_entries.hpp"
#include "filter/jobs/job_observer.hpp"

namespace bloomgate {

struct VerifyOptions {
  std::string path;        // a filter, a store, or a folder of layers
  TrustedKeys trusted;     // if there are any, one of them must have signed a filter, or each layer and their manifest
  std::string store_path;  // for a single filter; empty: its store is not checked
  std::vector<std::string>
      lists;  // for a single filter: files, folders, or - for standard input, whose entries it must have
  std::string format = "text";
  unsigned threads = 1;
  // Else lists count as not compared if more than a tenth of their lines are not entries, or if they have no entry.
  bool allows_rejects = false;
  bool allows_empty = false;
};

// A filter that has passed the check.
struct SoundFilter {
  std::string path;
  std::uint64_t body_bytes = 0;
  std::vector<SectionKind> sections;
  std::optional<PublicKey> signer;  // not verified without trusted keys
};

struct SoundStore {
  std::string path;
  std::uint64_t addresses = 0;
  std::uint64_t domains = 0;
};

// How many of a number of random addresses, none of which has an entry, the filter finds.
struct MeasuredRate {
  std::uint64_t probes = 0;
  std::uint64_t found = 0;                          // in the bits alone
  double expected = 0;                              // the rate that follows from the bits that are set
  double deviations = 0;                            // standard deviations between the two
  std::optional<std::uint64_t> confirmed = {};      // how many of those found the store confirms
  std::optional<std::uint64_t> other_domains = {};  // found in spite of the sender domains, if the filter has them

  double rate() const noexcept { return static_cast<double>(found) / static_cast<double>(probes); }
  // For a sound filter, the difference to the theory is that large once in 500 million runs.
  bool agrees() const noexcept { return deviations <= 6; }
};

struct VerifyResult {
  std::vector<SoundFilter> filters;
  std::optional<SoundStore> store;
  std::optional<std::uint64_t> sender_domains;  // of the filter, which are those of its store
  std::optional<EntryCounts> members;
  std::optional<MeasuredRate> rate;
};

class VerifyJob {
 public:
  // The observer and `stop` must outlive the object.
  VerifyJob(VerifyOptions options, JobObserver& observer, const std::atomic<bool>& stop)
      : options_(std::move(options)), observer_(observer), stop_(stop) {}

  // Call it once. The observer gets a line for each of the first missing entries, with its position. Throws what
  // MappedFilter, StoreFile, Blocks and Format throw, BloomgateError{bad_header_field} if the bits are not those that
  // the header declares, {bad_input} for a folder that differs from its manifest, if there are trusted keys, and
  // {interrupted} if `stop` turned true. Throws {bad_input} if the lists have no entry, or nothing is missing and more
  // than a tenth of their lines are none.
  const VerifyResult& run();

  // The results of run(); if run() threw, the results until then.
  const VerifyResult& result() const noexcept { return result_; }

 private:
  void check(std::uint64_t total_bytes, const std::function<void(const std::function<void(std::uint64_t)>&)>& read);
  void check_filter(const MappedFilter& filter);
  void check_store(const StoreFile& store);
  EntryCounts check_members(const MappedFilter& filter, const Confirmation& confirmation);
  void require_compared(const MappedFilter& filter) const;

  VerifyOptions options_;
  JobObserver& observer_;
  const std::atomic<bool>& stop_;
  VerifyResult result_;
  std::string advice_;  // on the format of the lists
};

}  // namespace bloomgate
