// Adds the entries of lists to a filter of the layout counting, or removes them from it. Used by `bloomgate add` and
// `remove`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "filter/engine/counting_update.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/ingest/broad_domains.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/jobs/job_observer.hpp"

namespace bloomgate {

struct CountingRequest {
  CountingChange change = CountingChange::add;
  std::string file;
  std::vector<std::string> lists;  // as list_files() gives them
  std::string format = "text";     // as make_format() takes it
  BroadFiles broad_files = {};
  std::string reject_file = {};  // empty: none
  CountingUpdate::Options options = {};
};

// What the caller makes of the lists before the file changes: what one of these throws ends the job.
struct CountingReview {
  // There were lines that are no entries.
  std::function<void(std::uint64_t rejected, const RejectLog& rejects, const Format& format)> rejected;
  // There are entries that cannot be removed, as they are not there.
  std::function<void(std::uint64_t entries)> not_there;
  // How many entries a removal leaves.
  std::function<void(std::uint64_t entries)> left;
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

class CountingJob {
 public:
  // The observer and `stop` have to outlive it.
  CountingJob(CountingRequest request, CountingReview review, JobObserver& observer, const std::atomic<bool>& stop)
      : request_(std::move(request)), review_(std::move(review)), observer_(observer), stop_(stop) {}

  // Once. Puts the new file in place, or changes nothing: where a review throws, `stop` turned true
  // (BloomgateError{interrupted}), or reading or writing fails.
  CountingResult run();

 private:
  std::uint64_t read_changes(OpenLists& lists, const MappedFilter& old, CountingUpdate& update, RejectLog& rejects);

  CountingRequest request_;
  CountingReview review_;
  JobObserver& observer_;
  const std::atomic<bool>& stop_;
};

}  // namespace bloomgate
