// One connection of the mail server. It records the current message, has it decided once its header is complete, and
// answers at its end with what to do. The straight line of a message:
//
//     callbacks.cpp -> MessageRecorder (facts) -> Gate -> decide() -> Decision -> Answer -> callbacks.cpp
//
// A decision that needs signatures is made twice: with the header, and with what the verifier found at the end of the
// message. In between the body goes to the verifier, and to the text for a checker too.
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

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/daemon_options.hpp"
#include "milter/deep_check/deep_check.hpp"
#include "milter/deep_check/delivery_sampler.hpp"
#include "milter/dkim/verifier.hpp"
#include "milter/glue/answer.hpp"
#include "milter/glue/connection_watch.hpp"
#include "milter/glue/messages_in_progress.hpp"
#include "milter/judge/gate.hpp"
#include "milter/learning/pending_lesson.hpp"
#include "milter/lists/slot.hpp"
#include "milter/message/message_recorder.hpp"
#include "milter/monitoring/monitor.hpp"
#include "milter/policy/header_field.hpp"

namespace bloomgate {

// What connections share. A connection keeps the parts that it began with, since the mail server was asked for what
// they need; a reload makes others for those that follow. But the gate's rules are for all of them at once.
struct ConnectionParts {
  const Gate* gate = nullptr;
  const DeepCheck* deep_check = nullptr;  // null: no checker is asked; always so if `mode` is observe
  DeliverySampler* sampler = nullptr;     // null: no delivered message is shown to the checker
  Verifier* verifier = nullptr;           // null: no signature is verified; a decision that needs one stays `check`
  MessagesInProgress* in_progress = nullptr;
  Monitor* monitor = nullptr;        // null: nobody watches
  ConnectionWatch* watch = nullptr;  // null: connections are not bounded
  std::shared_ptr<spdlog::logger> log;
  Mode mode = Mode::enforce;
  CheckMark check_mark = CheckMark::plain;
  std::string host_name;      // put into the header field; empty: the mail server's macro j
  std::string fallback_host;  // if neither gives one
  // Called by a thread that is about to wait for a checker, a name server or the disk of a store; may be empty, must
  // not throw.
  std::function<void()> before_waiting = nullptr;

  // Whether recipients of messages make a difference now.
  bool want_recipients() const { return deep_check != nullptr || gate->wants_recipients(); }
  // Whether their bodies do.
  bool want_body() const { return deep_check != nullptr || verifier != nullptr || gate->is_learning(); }
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

  // All header fields are there: decides the message, and whether its body is wanted. If the mail server skips this
  // step, the end of the message follows, and no signature is verified.
  void end_of_header(std::string_view mta_name) noexcept;

  // The next bytes of the body. Returns whether more of it is wanted.
  bool add_body(std::string_view bytes) noexcept;

  // If signatures are verified or a checker is asked, takes as long as they do. The answer is valid until the message
  // is forgotten.
  Answer end_of_message(const EndOfMessage& end) noexcept;

  // The message is over, or was given up. One that was delivered may go to the sampler now.
  void forget_message() noexcept;

  // What was agreed with the mail server; before the first message. A session may follow another one on a connection
  // without that: then it counts as agreed that recipients and bodies are told if they are wanted, and there are none
  // if not.
  struct Conversation {
    bool may_skip_body = false;  // it can skip the rest of a body if told so
    bool leading_space = false;  // values of header fields come and go with the space after the colon
    bool recipients = false;     // it tells them
    bool body = false;           // it tells the end of the header, and the body
  };
  void set_conversation(const Conversation& agreed) noexcept;
  const Conversation& conversation() const noexcept { return conversation_; }

  const ConnectionParts& parts() const noexcept { return parts_; }

 private:
  void decide(std::string_view mta_name);
  void begin_verification();
  void end_verification();
  bool is_drawn() const noexcept;
  void take_sample(const EndOfMessage& end) noexcept;
  Answer conclude(const EndOfMessage& end);
  Answer conclude_without_memory() const noexcept;
  std::optional<Refusal> refusal_for_forged_fields(bool exempt) const noexcept;
  std::string_view host(std::string_view mta_name) const noexcept;

  const std::shared_ptr<const ConnectionParts> kept_parts_;
  const ConnectionParts& parts_;
  ConnectionWatch::Place place_;
  MessageRecorder message_;
  Conversation conversation_;
  bool is_in_progress_ = false;
  LearnedBegin began_;
  std::optional<Judgement> judgement_;  // once the message is decided; with a need, for now
  PendingLesson lesson_;                // from then on
  std::unique_ptr<Verification> verification_;
  bool is_drawn_ = false;                 // for the sampler, if it is delivered
  std::optional<DeliverySample> sample_;  // once it is
  // The targets of the answer's views.
  DeepOutcome deep_outcome_;
  std::string mark_;
};

// For functions that let no exception out; the log may throw one.
void log_error(spdlog::logger& log, std::string_view text) noexcept;

// Reports the exception that is being handled. The message is sent to the deeper checks.
void log_exception(spdlog::logger& log, std::string_view where) noexcept;

}  // namespace bloomgate
