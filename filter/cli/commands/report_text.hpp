// What the reports of several commands have in common.
#pragma once

#include <string>

#include "filter/base/json.hpp"
#include "filter/file/file_format.hpp"

namespace bloomgate::cli {

// Of the pairs: "up to 1,200 in the bits, and others with a domain, kept exactly". There must be some.
std::string pairs_text(const KindsHeld& kinds);

// {"in_bits": 1200, "with_domains": true}
Json pairs_json(const KindsHeld& kinds);

// Of a filter that has the domains of its senders: how many, what they take, and what they bring.
std::string sender_domains_text(const FilterHeader& header);
// The same as three fields; of a filter that does not have them, too.
void add_sender_domains(Json& json, const FilterHeader& header);

// The lines "entries" and, where there are any, "domains", "pairs", "signers" and "senders", without a line break at
// the end.
std::string entries_text(const FilterHeader& header);

// On standard output. A path need not be UTF-8: bytes that are not are replaced.
void print_report(const Json& json);

}  // namespace bloomgate::cli
