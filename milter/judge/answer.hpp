// What the mail server has to do with a message at its end: edits, or a refusal. Hearing makes it, and
// message_edits.cpp passes it on. Plain views; their targets belong to the connection and outlive its message.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "milter/deep_check/result_fields.hpp"
#include "milter/message/forged_fields.hpp"

namespace bloomgate {

// The message is accepted. If there are no edits, it stays unchanged.
struct Edits {
  int forged_marks = 0;                                     // X-Bloomgate fields to remove
  std::span<const ForgedFields::Name> forged_results = {};  // other fields to remove
  const char* mark = nullptr;                 // the value of our own field, which goes to the top; null: none
  std::span<const ResultField> results = {};  // these go below it, in their order
  const char* quarantine_reason = nullptr;    // null: the message is not put into quarantine
  bool needs_leading_space = false;           // the mail server adds no space before a value that it gets
};

struct Refusal {
  bool for_good = false;        // false: the sender's mail server should try again later
  std::string_view reply = {};  // one line of printable ASCII for the client; empty: the mail server's own text
};

using Answer = std::variant<Edits, Refusal>;

}  // namespace bloomgate
