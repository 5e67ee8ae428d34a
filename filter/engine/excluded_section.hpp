// The section of the known strangers whose bits are all set, behind those of the entries. Used by FilterBuilder and
// StoreUpdate.
#pragma once

#include <functional>

#include "filter/engine/known_strangers.hpp"
#include "filter/file/filter_writer.hpp"

namespace bloomgate {

// Writes it, and the numbers of the strangers into `header`, which has those of the entries. Calls `review`, if there
// is one, before that: what it throws ends the build. `strangers` have noted everything. Throws
// BloomgateError{cannot_write}.
void write_excluded(FilterWriter& writer, FilterHeader& header, KnownStrangers& strangers,
                    const std::function<void()>& review);

}  // namespace bloomgate
