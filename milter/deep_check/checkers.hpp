// The configured checkers, rspamd or SpamAssassin's spamd. Asks them in their order for a verdict on a message, until
// one answers. A server that has failed comes last for a while. DeepCheck calls it and waits. One object serves the
// daemon; safe from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "config/deep_check_options.hpp"
#include "milter/deep_check/deep_result.hpp"
#include "milter/deep_check/free_places.hpp"
#include "milter/deep_check/server_order.hpp"
#include "milter/message/envelope.hpp"
#include "milter/message/message_text.hpp"

namespace bloomgate {

// No server has answered in time. `what()` names each server and its fault, in one line of printable ASCII.
class DeepCheckError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws if no checker answers.
using AskChecker = std::function<DeepResult(const Envelope&, const MessageText&)>;

class Checkers {
 public:
  // `options.servers` is not empty. Throws std::bad_alloc.
  explicit Checkers(DeepCheckOptions options);

  // Takes up to options.timeout. If there are several servers, each gets an equal share of the remaining time, so that
  // a server that hangs leaves time for the next one. Throws DeepCheckError, MessageTextError, std::bad_alloc.
  DeepResult ask(const Envelope& envelope, const MessageText& message);

 private:
  DeepCheckOptions options_;
  FreePlaces places_;
  ServerOrder order_;
};

// Makes a function that asks the checkers of these options. Throws std::bad_alloc.
AskChecker ask_checkers(DeepCheckOptions options);

// Whether a configured checker answers at all; it gets no message (rspamd: GET /ping, spamd: PING). Returns an empty
// text if it answers in time, else the fault, in printable ASCII, without the server's name. For the doctor. Throws
// std::bad_alloc.
std::string reach(const DeepCheckServer& server, std::chrono::milliseconds timeout);

}  // namespace bloomgate
