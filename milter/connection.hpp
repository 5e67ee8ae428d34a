// One connection of the mail server: records the message that is on it, has it decided once its header is complete, and
// answers at its end with what is to be done with it. The straight line of a message:
//
//     callbacks.cpp -> MessageRecorder (facts) -> Gate -> decide() -> Decision -> Answer -> callbacks.cpp
//
// Knows nothing of libmilter, which keeps the object and hands it to callbacks.cpp. One thread at a time. Legal order
// of calls, those of the recorder among them:
//
//     (begin_message record* end_of_header? record* end_of_message? forget_message)*
//
// No exception leaves it. One on the way makes the message `check; reason=internal-error`, and its deeper check fail.
#pragma once

#include <spdlog/logger.h>

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

// What all connections work with.
struct ConnectionParts {
  const Gate* gate = nullptr;
  const DeepCheck* deep_check = nullptr;  // null: none is asked; always so where `mode` is observe
  MessagesInProgress* in_progress = nullptr;
  std::shared_ptr<spdlog::logger> log;
  Mode mode = Mode::enforce;
  std::string host_name;      // put into the header field; empty: the mail server's macro j
  std::string fallback_host;  // where neither gives one
};

class Connection {
 public:
  // `parts` must outlive the connection. Throws std::bad_alloc.
  explicit Connection(const ConnectionParts& parts);
  ~Connection() { forget_message(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Takes what the mail server tells, but for what the functions below are for.
  MessageRecorder& message() noexcept { return message_; }

  // A MAIL command. The message is in progress until it is forgotten.
  void begin_message(std::string_view path, const ClientFacts& client) noexcept;

  // All header fields are there: the message is decided, and its body wanted or not. A mail server that is spared this
  // step goes on with the end of the message.
  void end_of_header(std::string_view mta_name) noexcept;

  // Takes as long as the deeper check does, where one is asked. The answer is valid until the message is forgotten.
  Answer end_of_message(const EndOfMessage& end) noexcept;

  // The message is over, or was given up.
  void forget_message() noexcept;

  bool may_skip_body = false;  // the mail server can be told that no more of a body is wanted

 private:
  void decide(std::string_view mta_name);
  Answer conclude(const EndOfMessage& end);
  Answer conclude_without_memory() const noexcept;
  DeepOutcome deep_outcome(const EndOfMessage& end) const;
  std::string_view host(std::string_view mta_name) const noexcept;

  const ConnectionParts& parts_;
  MessageRecorder message_;
  bool is_in_progress_ = false;
  std::optional<Judgement> judgement_;  // once the message is decided
  // What the answer shows.
  DeepOutcome deep_outcome_;
  std::string mark_;
};

// Reports the exception that is being handled. The message is sent to the deeper checks.
void log_exception(spdlog::logger& log, std::string_view where) noexcept;

}  // namespace bloomgate
