// Asks the configured deeper checks, rspamd or SpamAssassin's spamd, for their opinion of a message. The servers are
// tried in their order until one answers; one that failed is tried last for a while. Called at the end of a message
// whose verdict is `check`, by the thread of its connection, which waits.
//
// Knows nothing of libmilter; what becomes of the message is the caller's business. One object serves the daemon; safe
// from any thread.
#pragma once

#include <chrono>
#include <stdexcept>

#include "config/deep_check_options.hpp"
#include "milter/deep_check/deep_result.hpp"
#include "milter/deep_check/free_places.hpp"
#include "milter/deep_check/message_text.hpp"
#include "milter/deep_check/server_order.hpp"

namespace bloomgate {

// No server has answered in time. `what()` names each one and what was wrong with it; it is one line of printable
// ASCII.
class DeepCheckError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class DeepCheck {
 public:
  // `options.servers` is not empty. Throws std::bad_alloc.
  explicit DeepCheck(DeepCheckOptions options);

  // Takes up to options.timeout. With several servers each may take an equal share of what is left of it, so that
  // one that hangs leaves time for the next. Throws DeepCheckError, MessageTextError, std::bad_alloc.
  DeepResult ask(const CheckedEnvelope& envelope, const MessageText& message);

  const DeepCheckOptions& options() const noexcept { return options_; }

 private:
  DeepCheckOptions options_;
  FreePlaces places_;
  ServerOrder order_;
};

}  // namespace bloomgate
