// One connection of the mail server. It records the current message, has it decided once its header is complete, and
// answers at its end with what to do. The straight line of a message:
//
//     callbacks.cpp -> MessageRecorder (facts) -> Gate -> decide() -> Decision -> Answer -> callbacks.cpp
//
// Knows nothing of libmilter, which keeps the object and gives it to callbacks.cpp. One thread at a time. Legal order
// of calls, including those of the recorder:
//
//     (begin_message record* end_of_header? record* end_of_message? forget_message)*
//
// No exception leaves it. If one is caught, the message becomes `check; reason=internal-error`, and its deeper check
// fails.
#pragma once

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/daemon_options.hpp"
#include "milter/answer.hpp"
#include "milter/deep_check/deep_check.hpp"
#include "milter/gate.hpp"
#include "milter/message/message_recorder.hpp"
#include "milter/messages_in_progress.hpp"

namespace bloomgate {

// What all connections share.
struct ConnectionParts {
  const Gate* gate = nullptr;
  const DeepCheck* deep_check = nullptr;  // null: no checker is asked; always so if `mode` is observe
  MessagesInProgress* in_progress = nullptr;
  std::shared_ptr<spdlog::logger> log;
  Mode mode = Mode::enforce;
  std::string host_name;      // put into the header field; empty: the mail server's macro j
  std::string fallback_host;  // if neither gives one
  // Called by a thread that is about to wait for a checker; may be empty, must not throw.
  std::function<void()> before_waiting = nullptr;
};

class Connection {
 public:
  // `parts` must outlive the connection. Throws std::bad_alloc.
  explicit Connection(const ConnectionParts& parts);
  ~Connection() { forget_message(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Takes what the mail server tells, except for the events of the functions below.
  MessageRecorder& message() noexcept { return message_; }

  // A MAIL command. The message is in progress until it is forgotten.
  void begin_message(std::string_view path, const ClientFacts& client) noexcept;

  // All header fields are there: decides the message, and whether its body is wanted. If the mail server skips this
  // step, the end of the message follows.
  void end_of_header(std::string_view mta_name) noexcept;

  // If a checker is asked, takes as long as it does. The answer is valid until the message is forgotten.
  Answer end_of_message(const EndOfMessage& end) noexcept;

  // The message is over, or was given up.
  void forget_message() noexcept;

  bool may_skip_body = false;  // the mail server can skip the rest of a body if told so

 private:
  void decide(std::string_view mta_name);
  Answer conclude(const EndOfMessage& end);
  Answer conclude_without_memory() const noexcept;
  std::optional<Refusal> refusal_for_forged_fields(bool exempt) const noexcept;
  std::string_view host(std::string_view mta_name) const noexcept;

  const ConnectionParts& parts_;
  MessageRecorder message_;
  bool is_in_progress_ = false;
  std::optional<Judgement> judgement_;  // once the message is decided
  // The targets of the answer's views.
  DeepOutcome deep_outcome_;
  std::string mark_;
};

// For functions that let no exception out; the log may throw one.
void log_error(spdlog::logger& log, std::string_view text) noexcept;

// Reports the exception that is being handled. The message is sent to the deeper checks.
void log_exception(spdlog::logger& log, std::string_view where) noexcept;

}  // namespace bloomgate
