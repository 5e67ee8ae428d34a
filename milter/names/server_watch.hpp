// Remembers that the name servers fail, so that not each message waits for them anew. It looks at the look-ups that
// wait longer than usual or failed, and then asks the servers a question that no sender of mail can slow down. One
// domain whose own name servers hang is therefore no evidence, however many names it has.
//
// The servers fail once that question, too, gets no answer: at once if all ports refuse, or else if kLeastNames
// different names had none lately. From then on a probe asks them each second, for a name that was wanted as well; the
// first answer of any kind ends it. Safe from any thread; has one of its own.
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

  // A look-up has started. If the servers turn out to fail before it has an answer, its answer is not_asked. Throws
  // std::bad_alloc.
  void add(const std::shared_ptr<AwaitedAnswer>& answer);

  // While the servers fail: the next probe asks for that name, too. Throws std::bad_alloc.
  void want(const std::string& name);

  // Ends the thread; there is no call of on_change afterwards. The servers count as working.
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
