// One number for what is in a filter file, to tell on which of several servers the same file is. Pure; safe from any
// thread.
#pragma once

#include <cstdint>
#include <string>

#include "filter/file/mapped_filter.hpp"

namespace bloomgate {

// The checksum of the header, which has the seed, all numbers, and the checksum of each section's checksums: another
// content has another fingerprint, but for chance (2^-64) or intent. 16 hexadecimal digits.
std::string fingerprint_of(const MappedFilter& filter);

}  // namespace bloomgate
