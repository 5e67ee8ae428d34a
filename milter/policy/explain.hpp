// Shows the steps of a decision to a person: as text lines, or as JSON. Called by `bloomgate-milter explain`; the
// steps come from decide() itself. Pure; throws std::bad_alloc. Bytes from the sender are always escaped: space and
// everything but printable ASCII is written as `\xNN`.
#pragma once

#include <string>
#include <string_view>

#include "filter/base/json.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/header_field.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {

// First `why`, which says the outcome in a sentence, and an empty line; neither if it is empty. Then one line per step:
// its name, its outcome, and its subject:
//
//     Delivered, because joe@example.org is on the whitelist 'customers', and …
//
//     envelope-sender    address  subject=<prvs=4f2a1b3c5d=Joe@Example.org> key=prvs=4f2a1b3c5d=joe@example.org
//     whitelist          address  subject=customers key=joe@example.org
//     mark               deliver; reason=listed; host=...; identity=envelope; authentication=dkim; whitelist=customers
//     decision: deliver reason=listed
//
// After a hit that a store has to confirm comes the store's answer, `not-asked` if the message is not delivered anyway:
//
//     confirm            yes  subject=customers key=joe@example.org
//
// If a domain entry was found, it comes after the key: `entry=@.partner.example`. What proved a sender comes after the
// domain that did: `proof=same-from`. If a name below the sender's domain has signed, and its signature would deliver
// the message if it counted, the step `child-signer` names both. The line `hint` before the decision says in a sentence
// which entry or option makes it count, and what else a listed sender who is not authenticated would have needed:
//
//     child-signer       not-counted  subject=shop.example key=mg.shop.example
//     hint               the message has a signature of mg.shop.example, a name below shop.example, which …
//
// The line of the decision always has this form, and is the last. `host` and `check_mark` as in header_value().
std::string explanation_text(const Trace& trace, const Decision& decision, std::string_view host, CheckMark check_mark,
                             std::string_view why = {});

// The same as a JSON object, and that on one line:
//
//     {"decision": "deliver", "reason": "listed", "identity": "envelope", "authentication": "dkim",
//      "whitelist": "customers", "entry": "", "child_signer": "", "child_of": "", "hint": "", "why": "Delivered,
//      because …", "confirmed": "", "fault": "", "mark": "deliver; …", "complete": true, "steps": [{"step":
//      "envelope-sender", "subject": "…", "key": "…", "outcome": "address", "entry": "", "proof": ""}, …]}
//
// `mark` is null if the message gets none; `complete` is false if steps are missing because memory ran out.
Json explanation(const Trace& trace, const Decision& decision, std::string_view host, CheckMark check_mark,
                 std::string_view why = {});
std::string explanation_json(const Trace& trace, const Decision& decision, std::string_view host, CheckMark check_mark,
                             std::string_view why = {});

}  // namespace bloomgate
