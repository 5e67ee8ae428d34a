// The libmilter callbacks: they fill a Session, ask the Gate for the decision at the end of a message, and carry it out
// by editing the headers. Where a deeper check is asked, the decision is made at the end of the header, the body is
// kept for a message that is to be checked, and what the check says is carried out too. No exception leaves them: one
// on the way makes the message `check; reason=internal-error`, and its deeper check fail.
//
// This is glue: only this file's implementation and the other glue files include libmilter's headers.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>

#include "config/daemon_options.hpp"
#include "milter/deep_stage.hpp"
#include "milter/gate.hpp"
#include "milter/messages_in_progress.hpp"

struct smfiDesc;

namespace bloomgate {

// What the callbacks work with. libmilter hands them no argument of ours, hence set_callback_context().
struct CallbackContext {
  const Gate* gate = nullptr;
  const DeepStage* deep = nullptr;  // null: no deeper check is asked; always so where `mode` is observe
  MessagesInProgress* in_progress = nullptr;
  std::shared_ptr<spdlog::logger> log;
  Mode mode = Mode::enforce;
  std::string host_name;      // put into the header field; empty: the mail server's macro j
  std::string fallback_host;  // where neither gives one
};

// Before libmilter starts, and not again while it runs. `context` must outlive all session threads.
void set_callback_context(const CallbackContext* context) noexcept;

// The description to register with libmilter, for the context that was set.
smfiDesc callback_description() noexcept;

}  // namespace bloomgate
