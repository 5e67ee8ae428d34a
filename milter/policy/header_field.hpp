// The header field with the decision. Everything after the daemon matches it, so its form is fixed:
//
//     X-Bloomgate: deliver; reason=listed; host=mx.example.org; identity=envelope; authentication=spf; whitelist=news
//     X-Bloomgate: check; reason=no-sender; host=mx.example.org
//
// Verdict, reason and host are always there. What a checked message would have needed is nobody's business outside, and
// bounces carry the field there: a stranger could learn from it who is listed. So for every reason
// that depends on the lists stands what an unlisted sender's message would have, or `not-proven`, and nothing else is
// told, unless the operator wants it. Then follow, if known: whom the
// reason is about; what authenticates that sender, or `none`; the list that has that sender; `confirmed=yes` where its
// store has that sender too; the domain entry that lists or revokes that sender; and what the verifier said of a
// signature that did not count, `dkim=key-not-found`. More may follow in later versions.
//
// Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "milter/policy/decide.hpp"

namespace bloomgate {

// What the mark of a checked message tells.
enum class CheckMark : bool { plain, tells_why };

// The field's value, on one line. `host` must be safe in a header (is_host_name() in config/daemon_options.hpp), and so
// must the name of the list, which the configuration ensures. It contains nothing from the sender except a domain that
// an entry of a list names, in its canonical form. Throws std::bad_alloc.
std::string header_value(const Decision& decision, std::string_view host, CheckMark check_mark);

// The value if none can be made.
inline constexpr std::string_view kFallbackHeaderValue = "check; reason=internal-error";

}  // namespace bloomgate
