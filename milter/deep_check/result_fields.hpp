// The header fields that tell mail programs and filters what a deeper check has found, in the forms that SpamAssassin
// and rspamd have established:
//
//     X-Spam-Status: Yes, score=12.3 required=5.0 tests=BAYES_99,URIBL_BLACK
//     X-Spam-Flag: YES
//     X-Spam-Score: 12.3
//     X-Spamd-Result: default: True [12.30 / 15.00]; BAYES_SPAM(5.10)[99.99%]; …
//
// X-Spam-Flag marks spam only; X-Spamd-Result is rspamd's. Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "milter/deep_check/deep_result.hpp"

namespace bloomgate {

// A value may be folded; "\n\t" separates its lines, as libmilter requires. It is printable ASCII of at most about ten
// thousand bytes; longer values are cut off at the end.
struct ResultField {
  std::string name;
  std::string value;

  friend bool operator==(const ResultField&, const ResultField&) = default;
};

// In the order in which they stand in the message. Throws std::bad_alloc.
std::vector<ResultField> result_fields(const DeepResult& result);

// "X-Spam-Status: Unknown, " and the reason: no checker has checked the message. Throws std::bad_alloc.
std::vector<ResultField> failure_fields(std::string_view reason);

}  // namespace bloomgate
