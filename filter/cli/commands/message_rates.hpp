// What the rate of one look-up means for a message: the reports of `bloomgate` say both. Pure.
#pragma once

#include <string>

#include "filter/file/file_format.hpp"

namespace bloomgate::cli {

// How often a stranger is taken for listed who sends under one sender. With pairs of addresses a sender is looked up
// twice, alone and with a recipient; a stranger writes to one.
double fpr_of_sender(const FilterHeader& header);

// How often an address is found by chance whose domain has no entry: where the filter has the domains of its senders,
// practically never.
double fpr_at_other_domain(const FilterHeader& header);

// What is to be said of a rate where it holds only at the domains of the senders: ", at the domains of its senders
// only"; else nothing.
std::string scope_of_rate(const FilterHeader& header);

// `of_sender` is that rate. By the rule for the two senders that a message has, which the daemon's configuration
// chooses: "4.27 % where one of two different senders has to be listed (identity = either), 0.0466 % where both have to
// be (identity = both)".
std::string message_rates_text(double of_sender);

// Two lines of a report on a filter that was made: the rate of a look-up, by its fill, and of a message.
std::string rates_lines(const FilterHeader& header);

}  // namespace bloomgate::cli
