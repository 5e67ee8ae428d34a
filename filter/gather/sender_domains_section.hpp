// The section of the domains of all senders, the last one of a filter. Used by all that write a filter: the builder, an
// update, a combination.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>

#include "filter/domains/domain_coding.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/gather/gathered_domains.hpp"
#include "filter/store/store_file.hpp"
#include "filter/store/store_writer.hpp"

namespace bloomgate {

// Calls the function that it is given with runs of domains in ascending order, in which equal ones may follow each
// other. Each call of it gives the same domains.
using ForEachDomain = std::function<void(const std::function<void(std::span<const DomainNumber>)>&)>;

// The same, but if `stop` is set, it throws BloomgateError{interrupted} before the next run, and at the end. Both
// arguments must outlive the result.
ForEachDomain until_stopped(const ForEachDomain& for_each, const std::atomic<bool>& stop);

// Throws BloomgateError{size_overflow} if a filter cannot have so many.
void require_possible_number(std::uint64_t sender_domains);

// Throws BloomgateError{bad_argument}, with what to do, unless the domains of the store's addresses are known.
void require_sender_domains(const StoreFile& store);

// Throws BloomgateError{bad_section} if the filter has a section whose domains differ from those of the store that it
// was made from, and what StoreFile::for_each_sender_domain() throws. Both must be verified. A filter without the
// section agrees with each store. Cost: some 10 ns a domain.
void require_sender_domains_of(const StoreFile& store, const MappedFilter& filter);

// How many different ones there are. Throws what `for_each` throws, and as require_possible_number().
std::uint64_t count_sender_domains(const ForEachDomain& for_each);

// Writes the section after all other sections, for which `header` has the final numbers; its `sender_domains` is the
// result of the count. Throws what `for_each` throws and BloomgateError{cannot_write}.
void write_sender_domains(FilterWriter& writer, const FilterHeader& header, const ForEachDomain& for_each);
// The same for gathered domains. They also go into the store, if there is one, after its domain entries. Ends as
// until_stopped() does.
void write_sender_domains(FilterWriter& writer, const FilterHeader& header, StoreWriter* store,
                          const GatheredDomains& domains, unsigned threads, const std::atomic<bool>& stop);
// The same if header.sender_domains is an estimate, which it then replaces by the number. Takes twice as long if the
// estimate is so far off that the section was coded for another power of two.
void write_estimated_sender_domains(FilterWriter& writer, FilterHeader& header, const GatheredDomains& domains,
                                    unsigned threads, const std::atomic<bool>& stop);

}  // namespace bloomgate
