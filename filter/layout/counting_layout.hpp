// The layout counting: the blocks and probes of the layout page, with a counter in place of each bit (counters.hpp). So
// an entry can be removed, at four times the memory. It is for an operator who changes a list again and again without
// having the whole list. From it, the filter is made that a mail server loads, which has the bits of the layout page.
//
// Removing an entry that was never added lowers counters of other entries. If one of these counters falls to 0, all
// entries that need it are no longer listed. If all counters of such an entry are above 0, it cannot be told from an
// entry that was added; this happens at the false-positive rate. Pure; safe from any thread.
#pragma once

#include "filter/layout/layout_rules.hpp"

namespace bloomgate {

// Adds an entry to its block, which is in `part`. Each call counts.
void count_entry(const FilterShape& shape, BodyPart part, KeyHash hash) noexcept;

// Removes an entry from its block. If one of its counters is 0, the entry is not there: then the result is false and
// nothing is changed.
bool discount_entry(const FilterShape& shape, BodyPart part, KeyHash hash) noexcept;

// The shape of the filter that is made from a counting one: the same but for its layout.
FilterShape exported_shape(FilterShape shape) noexcept;

}  // namespace bloomgate
