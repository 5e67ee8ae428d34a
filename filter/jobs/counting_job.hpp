// A filter of the layout counting: a job adds entries of lists to it, removes entries from it, or makes the filter from
// it that the daemon loads. Used by `bloomgate counting-add`, `counting-remove` and `counting-export`.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "filter/engine/counting_update.hpp"
#include "filter/jobs/filter_request.hpp"
#include "filter/jobs/job_observer.hpp"

namespace bloomgate {

// `output` is the filter, which the changed one replaces.
struct CountingRequest : FilterRequest {
  CountingChange change = CountingChange::add;
  std::vector<std::string> lists = {};  // from list_files()
  std::string reject_file = {};         // empty: none
};

struct CountingResult {
  FilterHeader old;
  FilterHeader header;
  CountingCounts counts;
  std::uint64_t not_there = 0;  // lines of entries that are not there
  std::uint64_t rejected = 0;   // the other lines
  std::uint64_t spilled_bytes = 0;
  double seconds = 0;
};

// Changes the filter and publishes the new file. Changes nothing if a line to be removed is not an entry, if too much
// of the lists was rejected or is gone, or with `is_strict` if an entry is not there (BloomgateError{bad_input,
// no_entries}), if `stop` turned true ({interrupted}), or if reading or writing fails.
CountingResult change_counting_filter(const CountingRequest& request, JobObserver& observer,
                                      const std::atomic<bool>& stop);

// Writes the filter for the daemon to the request's output. Warns `observer` of what the daemon refuses. Throws what
// LossLimits refuses, and what MappedFilter, require_output() and export_filter() throw. Returns the header as written.
FilterHeader export_counting_filter(const std::string& file, const FilterRequest& request, JobObserver& observer,
                                    const std::atomic<bool>& stop);

}  // namespace bloomgate
