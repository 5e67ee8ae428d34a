// A filter of the layout counting: entries of lists are added to it or removed from it, and the filter that the daemon
// loads is made from it. Used by `bloomgate add`, `remove` and `export`.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "filter/engine/counting_update.hpp"
#include "filter/jobs/filter_request.hpp"
#include "filter/jobs/job_observer.hpp"

namespace bloomgate {

// `output` is the filter, which is replaced by the changed one.
struct CountingRequest : FilterRequest {
  CountingChange change = CountingChange::add;
  std::vector<std::string> lists = {};  // as list_files() gives them
  std::string reject_file = {};         // empty: none
};

struct CountingResult {
  FilterHeader old;
  FilterHeader header;
  CountingCounts counts;
  std::uint64_t not_there = 0;  // lines
  std::uint64_t rejected = 0;   // the other lines
  std::uint64_t spilled_bytes = 0;
  double seconds = 0;
};

// Puts the new file in place, or changes nothing: where a line to be removed is no entry, too much of the lists was
// rejected or is gone, or with `is_strict` an entry is not there (BloomgateError{bad_input, no_entries}), where `stop`
// turned true ({interrupted}), and where reading or writing fails.
CountingResult change_counting_filter(const CountingRequest& request, JobObserver& observer,
                                      const std::atomic<bool>& stop);

// Puts the filter for the daemon at the request's output. Throws what LossLimits refuses, and what MappedFilter,
// require_output() and export_filter() throw. Returns the header as written.
FilterHeader export_counting_filter(const std::string& file, const FilterRequest& request, JobObserver& observer,
                                    const std::atomic<bool>& stop);

}  // namespace bloomgate
