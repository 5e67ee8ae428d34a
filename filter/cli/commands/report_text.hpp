// What the reports of several commands have in common. Each says two rates: of one look-up, and of a message.
#pragma once

#include <string>

#include "filter/base/json.hpp"
#include "filter/file/file_format.hpp"
#include "filter/inputs/stranger_check.hpp"

namespace bloomgate::cli {

// Of the pairs: "up to 1,200 in the bits, and others with a domain, kept exactly". There must be some.
std::string pairs_text(const KindsHeld& kinds);

// {"in_bits": 1200, "with_domains": true}
Json pairs_json(const KindsHeld& kinds);

// Of the domains of a filter's senders: how many there are, what they take, and what they bring; or what it means that
// the filter does not have them.
std::string sender_domains_text(const FilterHeader& header);

// The lines "entries" and, where there are any, "domains", "pairs", "signers" and "senders", without a line break at
// the end.
std::string entries_text(const FilterHeader& header);

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

// What build and update say of the lists of --never-match; nothing where there are none. The line before is not ended
// yet.
void print_strangers(const FilterHeader& header, const StrangerReview& review);

// "10,000,000 senders; 216,412 hit the bits: 216,410 kept out, 2 entries; 5 listed by their domains".
std::string known_strangers_text(const FilterHeader& header);

// The same numbers: known, hits, excluded, entries, by_domain.
Json known_strangers_json(const FilterHeader& header);

// The report on a filter as JSON: where it is, what it holds, and how often it is wrong. The seed is a string, since
// many readers of JSON keep 53 bits of a number only.
Json filter_json(const std::string& path, const FilterHeader& header);

// On standard output. A path need not be UTF-8: bytes that are not are replaced.
void print_report(const Json& json);

}  // namespace bloomgate::cli
