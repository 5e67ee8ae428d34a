// What is to be done with a message at its end: edits, or a refusal. Made by Connection, said to the mail server by
// message_edits.cpp. Plain views; what they show belongs to the connection and outlives its message.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "milter/deep_check/result_fields.hpp"
#include "milter/message/spam_fields.hpp"

namespace bloomgate {

// The message goes on. Without any of these it is not touched.
struct Edits {
  int forged_marks = 0;                                // X-Bloomgate fields that go
  std::span<const SpamFields::Name> spam_fields = {};  // others that go
  const char* mark = nullptr;                          // the value of ours, which goes to the very top; null: none
  std::span<const ResultField> results = {};           // these go below it, in their order
  const char* quarantine_reason = nullptr;             // null: the message is not put into quarantine
};

struct Refusal {
  bool for_good = false;  // else the sender's mail server is to try again later
  std::string_view reply =
      {};  // what it is told: one line of printable ASCII; empty: the mail server has words of its own
};

using Answer = std::variant<Edits, Refusal>;

}  // namespace bloomgate
