// From a store and lists of changes to a new store and its filter.
#pragma once

#include <atomic>

#include "filter/jobs/job_observer.hpp"
#include "filter/jobs/update_plan.hpp"

namespace bloomgate {

class UpdateJob {
 public:
  // Finds the inputs and looks at the old filter. Throws what UpdatePlan throws, and UsageError where the output would
  // overwrite an input. The observer and `stop` have to outlive it.
  UpdateJob(UpdateRequest request, JobObserver& observer, const std::atomic<bool>& stop);

  // Once. Puts the pair in place, or changes nothing: where a list was rejected or too much is gone
  // (BloomgateError{bad_input, no_entries}), where `stop` turned true ({interrupted}), and where reading or writing
  // fails.
  UpdateResult run();

 private:
  JobObserver& observer_;
  const std::atomic<bool>& stop_;
  UpdatePlan plan_;
};

}  // namespace bloomgate
