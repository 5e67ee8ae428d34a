// What the rate of one look-up means for a message: the reports of `bloomgate` say both. Pure.
#pragma once

#include <string>

namespace bloomgate::cli {

// By the rule for the two senders that a message has, which the daemon's configuration chooses: "4.27 % where one of
// two different senders has to be listed (identity = either), 0.0466 % where both have to be (identity = both)".
std::string message_rates_text(double fpr);

}  // namespace bloomgate::cli
