// One connection of the mail server. It records the current message, and passes it to the judge when its header is
// complete, and at its end. The path of a message:
//
//     callbacks.cpp -> MessageRecorder (facts) -> Hearing -> Answer -> callbacks.cpp
//
// Does not depend on libmilter, which keeps the object and passes it to callbacks.cpp. One thread at a time. Legal
// order of calls, including those of the recorder:
//
//     (begin_message record* end_of_header? record* end_of_message? forget_message)*
//
// No exception leaves it. If one is caught, the message becomes `check; reason=internal-error`, and its deeper check
// fails.
#pragma once

#include <spdlog/fwd.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>

#include "milter/glue/connection_watch.hpp"
#include "milter/glue/negotiation.hpp"
#include "milter/judge/hearing.hpp"
#include "milter/lists/slot.hpp"
#include "milter/message/message_recorder.hpp"
#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

// Counts the messages between their MAIL command and their end, so that a stop can let them finish. Safe from any
// thread.
class MessagesInProgress {
 public:
  void begin() noexcept {
    const std::lock_guard lock(mutex_);
    ++count_;
  }

  void end() noexcept {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_left_.notify_all();
  }

  // Waits until no message is left, for at most `limit`. Returns how many are left.
  std::size_t wait_for_none(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    none_left_.wait_for(lock, limit, [this] { return count_ == 0; });
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_left_;
  std::size_t count_ = 0;
};

// What connections share. A connection keeps the parts with which it began, since they determine what was negotiated
// with the mail server; a reload makes new parts for later connections. The judge's rules, however, change for all
// connections at once.
struct ConnectionParts : HearingParts {
  MessagesInProgress* in_progress = nullptr;
  Monitor* monitor = nullptr;        // null: there is no monitoring
  ConnectionWatch* watch = nullptr;  // null: connections are not bounded
  std::shared_ptr<spdlog::logger> log;
};

using PartsSlot = Slot<ConnectionParts>;

class Connection {
 public:
  // `socket` is the one of the mail server's connection, or -1. Throws std::bad_alloc.
  explicit Connection(std::shared_ptr<const ConnectionParts> parts, int socket = -1);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // This connection's place among all connections.
  ConnectionWatch::Place& place() noexcept { return place_; }

  // Receives what the mail server reports, except for the events of the functions below.
  MessageRecorder& message() noexcept { return message_; }

  // A MAIL command. The message is in progress until forget_message().
  void begin_message(std::string_view path, const ClientFacts& client) noexcept;

  // The rest of the message, as in Hearing. The answer is valid until forget_message().
  void end_of_header(std::string_view mta_name) noexcept;
  bool add_body(std::string_view bytes) noexcept { return hearing_.add_body(bytes); }
  Answer end_of_message(const EndOfMessage& end) noexcept;
  void forget_message() noexcept;

  // What was negotiated with the mail server; to be called before the first message. A second session may follow on the
  // same connection without a negotiation: then recipients and bodies count as negotiated if the parts need them, and
  // as not negotiated otherwise.
  void set_conversation(const Conversation& agreed) noexcept;
  const Conversation& conversation() const noexcept { return conversation_; }

  const ConnectionParts& parts() const noexcept { return parts_; }

 private:
  const std::shared_ptr<const ConnectionParts> kept_parts_;
  const ConnectionParts& parts_;
  ConnectionWatch::Place place_;
  MessageRecorder message_;
  Conversation conversation_;
  bool is_in_progress_ = false;
  Hearing hearing_{parts_, message_};
};

// Logs an error, for functions that must not throw, although the logger may.
void log_error(spdlog::logger& log, std::string_view text) noexcept;

// Logs the current exception, inside its handler. The message goes to the deeper checks.
void log_exception(spdlog::logger& log, std::string_view where) noexcept;

}  // namespace bloomgate
