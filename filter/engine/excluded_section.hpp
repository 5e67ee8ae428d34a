// The section of the excluded senders whose bits are all set, after the sections of the entries. Used by FilterBuilder
// and StoreUpdate.
#pragma once

#include <functional>

#include "filter/engine/known_strangers.hpp"
#include "filter/file/filter_writer.hpp"

namespace bloomgate {

// Writes the section, and the counts of the excluded senders into `header`, which already has those of the entries.
// Before that it calls `review`, if there is one: if `review` throws, the build ends. `strangers` must have noted
// everything. Throws BloomgateError{cannot_write}.
void write_excluded(FilterWriter& writer, FilterHeader& header, KnownStrangers& strangers,
                    const std::function<void()>& review);

}  // namespace bloomgate
