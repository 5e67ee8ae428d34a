// The section of the domains of all senders, the last one of a filter. Used by whoever writes a filter: the builder, an
// update, a combination.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "filter/domains/domain_coding.hpp"
#include "filter/file/filter_writer.hpp"

namespace bloomgate {

// Calls the function that it is given with runs of domains, all in ascending order; an equal one may follow. It gives
// the same each time that it is called.
using ForEachDomain = std::function<void(const std::function<void(std::span<const DomainNumber>)>&)>;

// How many different ones there are. Throws what `for_each` throws, and BloomgateError{size_overflow}.
std::uint64_t count_sender_domains(const ForEachDomain& for_each);

// Writes them behind all other sections, of which `header` has the final numbers; its `sender_domains` is what was
// counted. Throws what `for_each` throws and BloomgateError{cannot_write}.
void write_sender_domains(FilterWriter& writer, const FilterHeader& header, const ForEachDomain& for_each);

}  // namespace bloomgate
