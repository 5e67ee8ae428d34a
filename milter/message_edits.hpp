// What is done with a message at its end, said to libmilter: header fields taken out and put in, the quarantine, a
// refusal. Used by callbacks.cpp, in the callback of the end of a message.
//
// This is glue.
#pragma once

#include <span>
#include <string_view>

#include "config/deep_check_options.hpp"
#include "milter/deep_check/result_fields.hpp"
#include "milter/message/spam_fields.hpp"

struct smfi_str;

namespace bloomgate {

// Nothing that is pointed to is changed.
struct MessageEdits {
  int forged_marks = 0;                                // X-Bloomgate fields that go
  std::span<const SpamFields::Name> spam_fields = {};  // others that go
  const char* mark = nullptr;                          // the value of ours, which goes to the very top; null: none
  std::span<const ResultField> results = {};           // these go below it, in their order
  const char* quarantine_reason = nullptr;             // null: the message is not put into quarantine
};

// False: the mail server did not take it all. Then the message must neither be lost nor go on, as a forged field may
// still be on it.
bool carry_out(smfi_str* context, const MessageEdits& edits) noexcept;

// The libmilter answer that refuses the message: for good where the action is reject, else for now. `text` is told to
// the client; it is one line of printable ASCII.
int refuse(smfi_str* context, SpamAction action, std::string_view text) noexcept;

}  // namespace bloomgate
