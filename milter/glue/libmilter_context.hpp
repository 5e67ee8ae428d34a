// What libmilter keeps and reports for a connection: our object for it, and the mail server's macros. Used by
// callbacks.cpp.
//
// This is glue.
#pragma once

#include <string_view>

#include "milter/glue/connection.hpp"

struct smfi_str;

namespace bloomgate {

// libmilter declares its string parameters as pointers to non-const, but changes none of them.
inline char* unconst(const char* text) noexcept {
  return const_cast<char*>(text);
}

// The connection, which is made when first asked for: a mail server may start another session on a connection without
// negotiating again (SMFIC_QUIT_NC), with close_connection() in between. Null if there is no memory for it; then what
// belonged to its message is unknown. To be called when a step of the protocol has arrived.
Connection* connection_of(smfi_str* context, const PartsSlot& parts) noexcept;

// The message is over, or was abandoned. If a connection object was lost for lack of memory, the next message tries
// again.
void forget_message(smfi_str* context) noexcept;

void close_connection(smfi_str* context) noexcept;

// Empty if the mail server does not send that macro.
std::string_view macro(smfi_str* context, const char* name) noexcept;

}  // namespace bloomgate
