// One part of a list, read by one of many jobs that need not know of each other: the job's share of the lists becomes a
// store, and `bloomgate build` makes a filter of all parts, for the layouts page, line and ribbon. All jobs read the
// same lists, or each its own. They need no connection, only a folder where the parts are collected.
//
// The bytes of a part depend only on its lists, options and number, so a job that is run again makes the same part.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filter/broad/broad_domains.hpp"
#include "filter/jobs/filter_request.hpp"
#include "filter/jobs/job_observer.hpp"
#include "filter/store/store_format.hpp"

namespace bloomgate {

// `options` says how keys and hashes are made, the number of threads, and whether there are sender domains; its members
// for filters are ignored.
struct PartRequest : FilterRequest {
  std::vector<std::string> inputs;  // lists, and folders of lists
  std::vector<std::string> exceptions = {};
  std::optional<std::chrono::days> newest = {};
  std::string reject_file = {};  // empty: none
  std::uint32_t index = 0;       // from 0 on
  std::uint32_t parts = 1;
  bool has_local_lists = false;  // read the lists whole; otherwise only this job's share of them
  std::string run = {};          // a name that all jobs of one run share, and that differs between runs; may be empty
  std::uint64_t store_seed = 0;  // the same in all jobs
};

struct PartResult {
  std::string output;
  StoreHeader header;
  std::uint64_t file_bytes = 0;
  std::uint64_t rejected = 0;  // lines
  std::uint64_t excepted = 0;
  std::uint64_t spilled_bytes = 0;
  double seconds = 0;
};

// Reads the lists, and writes the store to `output`, as a whole or not at all. Throws UsageError if the output would
// overwrite a list, or if `index` and `parts` are invalid; BloomgateError as build_from_lists(), except the errors
// about filters: a part without an entry is valid.
PartResult make_part(PartRequest request, JobObserver& observer, const std::atomic<bool>& stop);

}  // namespace bloomgate
