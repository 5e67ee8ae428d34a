// What libmilter keeps and tells of a connection: our object for it, and the mail server's macros. Used by
// callbacks.cpp.
//
// This is glue.
#pragma once

#include <string_view>

#include "milter/glue/connection.hpp"

struct smfi_str;

namespace bloomgate {

// libmilter takes its strings as pointers to non-const, and changes none of them.
inline char* unconst(const char* text) noexcept {
  return const_cast<char*>(text);
}

// The connection, which is made when first asked for: a mail server may use a connection for another session without
// negotiating again (SMFIC_QUIT_NC), and close_connection() comes in between. Null where there is no memory for it;
// what came with its message is then not known. A step of the protocol has come on it.
Connection* connection_of(smfi_str* context, const PartsSlot& parts) noexcept;

// The message is over, or given up. A connection that was lost for want of memory gets another chance with the next
// message.
void forget_message(smfi_str* context) noexcept;

void close_connection(smfi_str* context) noexcept;

// Empty where the mail server does not tell.
std::string_view macro(smfi_str* context, const char* name) noexcept;

}  // namespace bloomgate
