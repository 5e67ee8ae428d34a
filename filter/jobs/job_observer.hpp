// Who watches a job: gets its lines, and may look how far it has come. A job itself prints nothing.
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

  // Long work begins. `look` says how far it is, and may be called from any thread until end().
  virtual void begin(std::function<WorkState()> look) = 0;
  virtual void end() noexcept = 0;

  // A warning or a bad line, without a line end. Safe from any thread.
  virtual void warn(std::string_view line) = 0;
  // What is good to know, and no fault.
  virtual void note(std::string_view line) = 0;

  std::function<void(std::string_view)> warns() {
    return [this](std::string_view line) { warn(line); };
  }
};

// Between begin() and end(). What `look` uses has to outlive it.
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
