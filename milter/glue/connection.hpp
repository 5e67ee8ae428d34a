// One connection of the mail server. It records the current message, and puts it before the judge once its header is
// complete, and at its end. The straight line of a message:
//
//     callbacks.cpp -> MessageRecorder (facts) -> Hearing -> Answer -> callbacks.cpp
//
// Knows nothing of libmilter, which keeps the object and gives it to callbacks.cpp. One thread at a time. Legal order
// of calls, including those of the recorder:
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

// What connections share. A connection keeps the parts that it began with, since the mail server was asked for what
// they need; a reload makes others for those that follow. But the judge's rules are for all of them at once.
struct ConnectionParts : HearingParts {
  MessagesInProgress* in_progress = nullptr;
  Monitor* monitor = nullptr;        // null: nobody watches
  ConnectionWatch* watch = nullptr;  // null: connections are not bounded
  std::shared_ptr<spdlog::logger> log;
};

using PartsSlot = Slot<ConnectionParts>;

class Connection {
 public:
  // `socket` is the mail server's, or -1. Throws std::bad_alloc.
  explicit Connection(std::shared_ptr<const ConnectionParts> parts, int socket = -1);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Among all connections.
  ConnectionWatch::Place& place() noexcept { return place_; }

  // Takes what the mail server tells, except for the events of the functions below.
  MessageRecorder& message() noexcept { return message_; }

  // A MAIL command. The message is in progress until it is forgotten.
  void begin_message(std::string_view path, const ClientFacts& client) noexcept;

  // The rest of the message, as Hearing has it. The answer is valid until the message is forgotten.
  void end_of_header(std::string_view mta_name) noexcept;
  bool add_body(std::string_view bytes) noexcept { return hearing_.add_body(bytes); }
  Answer end_of_message(const EndOfMessage& end) noexcept;
  void forget_message() noexcept;

  // What was agreed with the mail server; before the first message. A session may follow another one on a connection
  // without that: then it counts as agreed that recipients and bodies are told if they are wanted, and there are none
  // if not.
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

// For functions that let no exception out; the log may throw one.
void log_error(spdlog::logger& log, std::string_view text) noexcept;

// Reports the exception that is being handled. The message is sent to the deeper checks.
void log_exception(spdlog::logger& log, std::string_view where) noexcept;

}  // namespace bloomgate
