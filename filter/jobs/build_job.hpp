// From lists of addresses and stores to a filter file, and a store beside it.
#pragma once

#include <atomic>

#include "filter/jobs/build_plan.hpp"
#include "filter/jobs/job_observer.hpp"

namespace bloomgate {

class BuildJob {
 public:
  // Finds the inputs, and reads none. Throws what BuildPlan throws, and UsageError where the output would overwrite one
  // of them. The observer and `stop` have to outlive it.
  BuildJob(BuildRequest request, JobObserver& observer, const std::atomic<bool>& stop);

  // Once. Puts the files in place, or changes nothing: where too much of the lists was rejected or is gone
  // (BloomgateError{bad_input, no_entries}), where `stop` turned true ({interrupted}), and where reading or writing
  // fails.
  BuildResult run();

 private:
  JobObserver& observer_;
  const std::atomic<bool>& stop_;
  BuildPlan plan_;
};

}  // namespace bloomgate
