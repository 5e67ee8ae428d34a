// Remembers that the name servers fail, so that not every message has to wait for them again. It watches for look-ups
// that wait longer than usual or have failed, and then asks the servers a question that no sender of mail can slow
// down. So one domain whose own name servers hang is no evidence, however many names it has.
//
// The servers count as failing if that question gets no answer either: at once if all ports refuse, otherwise if
// kLeastNames different names had no answer lately. From then on, a probe queries them every second, also for a name
// that was needed; the first answer of any kind ends the failure. Safe from any thread; has its own thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "config/name_server.hpp"
#include "filter/system/file_descriptor.hpp"
#include "milter/names/awaited_answer.hpp"

namespace bloomgate {

class ServerWatch {
 public:
  static constexpr std::size_t kLeastNames = 3;

  // `on_change` is called from the watch's thread, with whether the servers fail now. Without servers nothing is
  // watched. Throws std::system_error.
  ServerWatch(std::vector<NameServer> servers, std::function<void(bool)> on_change);
  ~ServerWatch() { stop(); }
  ServerWatch(const ServerWatch&) = delete;
  ServerWatch& operator=(const ServerWatch&) = delete;

  bool is_failing() const noexcept { return is_failing_.load(std::memory_order_relaxed); }

  // A look-up has started. If the servers are found to fail before it has an answer, its answer becomes not_asked.
  // Throws std::bad_alloc.
  void add(const std::shared_ptr<AwaitedAnswer>& answer);

  // While the servers fail: the next probe also queries that name. Throws std::bad_alloc.
  void want(const std::string& name);

  // Ends the thread; on_change is not called afterwards. The servers then count as working.
  void stop() noexcept;

 private:
  using Clock = AwaitedAnswer::Clock;

  void run() noexcept;
  void watch();
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
  bool needs_probe(Clock::time_point now);

  const std::vector<NameServer> servers_;
  const std::function<void(bool)> on_change_;
  FileDescriptor stop_event_;
  std::atomic<bool> is_failing_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::string wanted_;
  std::list<std::shared_ptr<AwaitedAnswer>> started_;    // look-ups, oldest first
  std::map<std::string, Clock::time_point> unanswered_;  // names, and when that was seen
  std::thread thread_;
};

}  // namespace bloomgate
