// The entries that list the sender of a message with a condition that the message did not meet, for `explain` and
// `why`.
#pragma once

#include "config/daemon_options.hpp"
#include "milter/lists/loaded_lists.hpp"
#include "milter/why/known_decision.hpp"

namespace bloomgate {

// Fills in KnownDecision::conditional for a sender that no list has by itself: for the From mailbox, or for
// the envelope sender if From is unknown. Throws std::bad_alloc.
void add_conditional_entries(KnownDecision& known, const DaemonOptions& options, const LoadedLists& lists);

}  // namespace bloomgate
