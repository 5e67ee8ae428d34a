// The layout counting: the blocks and probes of the layout page, with a counter in the place of each bit
// (counters.hpp). So an entry can be removed, at four times the memory. It is kept by an operator who changes a list
// again and again without having all of it; from it the filter is made that a mail server loads, which has the bits of
// the layout page.
//
// Removing an entry that was never added lowers counters of others: each of these that comes to 0 takes the entries
// that count on it off the list. Nobody can tell such an entry from one that was added if all its counters are above 0,
// which is so at the false-positive rate. Pure; safe from any thread.
#pragma once

#include "filter/layout/layout_rules.hpp"

namespace bloomgate {

// Adds an entry to its block, which is in `part`, as often as it is called.
void count_entry(const FilterShape& shape, BodyPart part, KeyHash hash) noexcept;

// Takes an entry out of its block; false, and nothing is changed, if one of its counters is 0: then it is not there.
bool discount_entry(const FilterShape& shape, BodyPart part, KeyHash hash) noexcept;

// The filter of a counting one: the same but for its layout.
FilterShape exported_shape(FilterShape shape) noexcept;

}  // namespace bloomgate
