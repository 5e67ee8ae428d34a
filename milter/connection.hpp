// One connection of the mail server: what is known of the message on it. libmilter keeps it for us, and hands it to
// each callback. Used by callbacks.cpp; one thread at a time.
//
// This is glue.
#pragma once

#include <memory>
#include <optional>

#include "milter/gate.hpp"
#include "milter/message/checked_message.hpp"
#include "milter/message/session.hpp"
#include "milter/messages_in_progress.hpp"

struct smfi_str;

namespace bloomgate {

struct Connection {
  Session session;
  std::unique_ptr<CheckedMessage> checked = nullptr;  // null where no deeper check is asked
  std::optional<Judgement> judgement = std::nullopt;  // once it is made
  bool in_message = false;
  bool may_skip_body = false;  // the mail server can be told that no more of a body is wanted
};

// Made when first asked for, since a mail server may use a connection for another session without negotiating again
// (SMFIC_QUIT_NC), and close_connection() comes in between. `options` are those of the deeper check, null where none is
// asked. Null where there is no memory for it; what came with its message is then not known.
Connection* connection_of(smfi_str* context, const DeepCheckOptions* options) noexcept;

// A message begins.
void begin_message(Connection& connection, MessagesInProgress& in_progress) noexcept;

// The message is over, or given up. A connection that was lost for want of memory gets another chance with the next
// message.
void forget_message(smfi_str* context, MessagesInProgress& in_progress) noexcept;

void close_connection(smfi_str* context, MessagesInProgress& in_progress) noexcept;

}  // namespace bloomgate
