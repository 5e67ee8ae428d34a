// The header field with the decision. Later stages match it, so its form is fixed:
//
//     X-Bloomgate: deliver; reason=listed; host=mx.example.org; identity=envelope; authentication=spf; whitelist=news
//     X-Bloomgate: check; reason=no-sender; host=mx.example.org
//
// Verdict, reason and host are always present. Outsiders must not learn what a checked message would have needed:
// bounces carry the field to the sender, who could learn from it who is listed. So if the reason depends on the lists,
// the field shows the reason that an unlisted sender's message would have, or `not-proven`, and nothing else, unless
// the operator wants more. Otherwise these follow, if known: the identity that the reason is about; what authenticates
// that sender, or `none`; the list that has that sender; `confirmed=yes` if its store has that sender, too; the domain
// entry that lists or revokes that sender; and the verifier's result for a signature that did not count,
// `dkim=key-not-found`. Later versions may add more.
//
// Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "milter/policy/decide.hpp"

namespace bloomgate {

// How much the mark of a checked message reveals.
enum class CheckMark : bool { plain, tells_why };

// The field's value, in one line. `host` must be safe in a header (is_host_name() in config/daemon_options.hpp), and so
// must the name of the list, which the configuration ensures. The only text from the sender in it is a domain that an
// entry of a list names, in its canonical form. Throws std::bad_alloc.
std::string header_value(const Decision& decision, std::string_view host, CheckMark check_mark);

// The value to use if header_value() fails.
inline constexpr std::string_view kFallbackHeaderValue = "check; reason=internal-error";

}  // namespace bloomgate
