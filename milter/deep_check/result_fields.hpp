// The header fields that tell mail programs and filters what a deeper check said, in the forms that SpamAssassin and
// rspamd have made usual:
//
//     X-Spam-Status: Yes, score=12.3 required=5.0 tests=BAYES_99,URIBL_BLACK
//     X-Spam-Flag: YES
//     X-Spam-Score: 12.3
//     X-Spamd-Result: default: True [12.30 / 15.00]; BAYES_SPAM(5.10)[99.99%]; …
//
// The flag is there for spam only, the last one is rspamd's. Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "milter/deep_check/deep_result.hpp"

namespace bloomgate {

// A value may be folded: its lines are parted by "\n\t", as libmilter wants it. It is printable ASCII, at most some
// ten thousand bytes, with what is said last left out where there is more.
struct ResultField {
  std::string name;
  std::string value;

  friend bool operator==(const ResultField&, const ResultField&) = default;
};

// In the order in which they stand. Throws std::bad_alloc.
std::vector<ResultField> result_fields(const DeepResult& result);

// "X-Spam-Status: Unknown, " and the reason: nothing has checked the message. Throws std::bad_alloc.
std::vector<ResultField> failure_fields(std::string_view reason);

}  // namespace bloomgate
