// Observes a job: gets its messages, and may ask for its progress. A job itself prints nothing.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "filter/base/work_state.hpp"

namespace bloomgate {

class JobObserver {
 public:
  JobObserver() = default;
  virtual ~JobObserver() = default;
  JobObserver(const JobObserver&) = delete;
  JobObserver& operator=(const JobObserver&) = delete;

  // Long work begins. `look` returns its progress, and may be called from any thread until end().
  virtual void begin(std::function<WorkState()> look) = 0;
  virtual void end() noexcept = 0;

  // A warning or a bad line, without a line end. Safe from any thread.
  virtual void warn(std::string_view line) = 0;
  // A message that is useful to know, and not a fault.
  virtual void note(std::string_view line) = 0;

  std::function<void(std::string_view)> warns() {
    return [this](std::string_view line) { warn(line); };
  }
};

// Calls begin() and end(). Whatever `look` uses must outlive it.
class ObservedWork {
 public:
  ObservedWork(JobObserver& observer, std::function<WorkState()> look) : observer_(observer) {
    observer.begin(std::move(look));
  }
  ~ObservedWork() { observer_.end(); }
  ObservedWork(const ObservedWork&) = delete;
  ObservedWork& operator=(const ObservedWork&) = delete;

 private:
  JobObserver& observer_;
};

}  // namespace bloomgate
