// Checks a filter, a store, or each layer of a folder: the whole file against its checksums and its signature, that it
// holds lists, and that it finds as many non-members as its bits promise. Used by `bloomgate verify`.
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
  TrustedKeys trusted;     // if there are any, one must have signed a filter, or each layer and their manifest
  std::string store_path;  // of a filter alone; empty: its store is not checked
  std::vector<std::string>
      lists;  // of a filter alone: files, folders, or - for standard input, whose entries it must have
  std::string format = "text";
  unsigned threads = 1;
};

// A filter that is sound.
struct SoundFilter {
  std::string path;
  std::uint64_t body_bytes = 0;
  std::vector<SectionKind> sections;
  std::optional<PublicKey> signer;  // not checked without trusted keys
};

struct SoundStore {
  std::string path;
  std::uint64_t addresses = 0;
  std::uint64_t domains = 0;
};

// How many of as many random addresses, none of which has an entry, are found.
struct MeasuredRate {
  std::uint64_t probes = 0;
  std::uint64_t found = 0;                          // in the bits alone
  double expected = 0;                              // the rate, by the bits that are set
  double deviations = 0;                            // standard deviations between the two
  std::optional<std::uint64_t> confirmed = {};      // of those found, by the store
  std::optional<std::uint64_t> other_domains = {};  // found in spite of the sender domains, if the filter has them

  double rate() const noexcept { return static_cast<double>(found) / static_cast<double>(probes); }
  // A sound filter strays so far from theory once in 500 million runs.
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
  // The observer and `stop` have to outlive it.
  VerifyJob(VerifyOptions options, JobObserver& observer, const std::atomic<bool>& stop)
      : options_(std::move(options)), observer_(observer), stop_(stop) {}

  // Once. The observer gets a line for each of the first entries that are missing, with its place. Throws what
  // MappedFilter, StoreFile, Blocks and Format throw, BloomgateError{bad_header_field} for bits that the header does
  // not tell of, {bad_input} for a folder that is not as its manifest says, where there are trusted keys, and
  // {interrupted} if `stop` turned true.
  const VerifyResult& run();

  // What run() has found; what it had found before it threw, too.
  const VerifyResult& result() const noexcept { return result_; }

 private:
  void check(std::uint64_t total_bytes, const std::function<void(const std::function<void(std::uint64_t)>&)>& read);
  void check_filter(const MappedFilter& filter);
  void check_store(const StoreFile& store);
  EntryCounts check_members(const MappedFilter& filter, const Confirmation& confirmation);

  VerifyOptions options_;
  JobObserver& observer_;
  const std::atomic<bool>& stop_;
  VerifyResult result_;
};

}  // namespace bloomgate
