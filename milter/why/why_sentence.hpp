// Why a message was treated so, in a sentence or two for a person, and what would change it. Made from a decision in
// memory (`explain`) or from a line of the log (`bloomgate-milter why`). Pure; throws std::bad_alloc. The result is
// printable ASCII, and names nothing that is unknown.
#pragma once

#include <functional>
#include <string>

#include "milter/why/known_decision.hpp"

namespace bloomgate {

// "Checked, because joe@example.org is on the whitelist customers, but nothing proves the message: it is signed by
// a.example and b.example only. A signature of example.org would change that."
std::string why_sentence(const KnownDecision& known);

// Adds what the lists say now, and a line of the log does not.
using AddListed = std::function<void(KnownDecision& known)>;

// The same for any line, also for a message that was refused.
std::string why_sentence(const DecisionLine& line, const AddListed& add_listed = {});

}  // namespace bloomgate
