// With how many bits per entry a filter was built: its header has only what came of it.
#pragma once

#include "filter/file/file_format.hpp"

namespace bloomgate {

// The roundest number of bits per entry, in [1, 64], that gives so many blocks to a filter that was sized for so many
// entries. So it does not grow where one filter after the other is made like the one before.
double bits_per_entry_of(const FilterHeader& header) noexcept;

}  // namespace bloomgate
