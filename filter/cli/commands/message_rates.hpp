// What the rate of one look-up means for a message: the reports of `bloomgate` say both. Pure.
#pragma once

#include <string>

namespace bloomgate::cli {

// By the rule for the two senders that a message has, which the daemon's configuration chooses: "4.27 % where one of
// two different senders has to be listed (identity = either), 0.0466 % where both have to be (identity = both)".
std::string message_rates_text(double fpr);

// With pairs of addresses a sender is looked up twice, alone and with a recipient; a stranger writes to one.
double fpr_of_sender(double fpr, bool has_pairs);

}  // namespace bloomgate::cli
