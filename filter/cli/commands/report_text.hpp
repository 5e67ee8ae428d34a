// What the reports of several commands have in common.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "filter/base/json.hpp"
#include "filter/file/file_format.hpp"
#include "filter/file/mapped_filter.hpp"

namespace bloomgate::cli {

// Of the pairs: "up to 1,200 in the bits, and others with a domain, kept exactly". There must be some.
std::string pairs_text(const KindsHeld& kinds);

// {"in_bits": 1200, "with_domains": true}
Json pairs_json(const KindsHeld& kinds);

// Of the domains of a filter's senders: how many there are, what they take, and what they bring; or what it means that
// the filter does not have them.
std::string sender_domains_text(const FilterHeader& header);
// The same as three fields; of a filter that does not have them, too.
void add_sender_domains(Json& json, const FilterHeader& header);

// Says on standard error, in one line, where a combination is without the domains of its senders and one of the filters
// had them.
void warn_of_lost_sender_domains(const FilterHeader& combined,
                                 const std::vector<std::unique_ptr<MappedFilter>>& filters);

// The lines "entries" and, where there are any, "domains", "pairs", "signers" and "senders", without a line break at
// the end.
std::string entries_text(const FilterHeader& header);

// On standard output. A path need not be UTF-8: bytes that are not are replaced.
void print_report(const Json& json);

}  // namespace bloomgate::cli
