// Runs a supervisor in a thread, until the end of the object: also where a test ends before its time.
#pragma once

#include <thread>

#include "milter/daemon/supervisor.hpp"

namespace bloomgate::test {

class RunningSupervisor {
 public:
  RunningSupervisor(Supervisor& supervisor, Wakeup& wakeup)
      : wakeup_(wakeup), thread_([&supervisor] { supervisor.run(); }) {}
  ~RunningSupervisor() { end(); }
  RunningSupervisor(const RunningSupervisor&) = delete;
  RunningSupervisor& operator=(const RunningSupervisor&) = delete;

  void end() {
    if (!thread_.joinable()) return;
    wakeup_.post(Wakeup::kStop);
    thread_.join();
  }

 private:
  Wakeup& wakeup_;
  std::thread thread_;
};

}  // namespace bloomgate::test
