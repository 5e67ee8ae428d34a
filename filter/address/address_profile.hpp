// How keys are made from addresses: what an operator chooses when a filter is built. A plain value.
#pragma once

#include <cstdint>

#include "filter/address/tag_separators.hpp"

namespace bloomgate {

// The version of the rules that make keys from text. Each file stores it, so that look-ups follow the rules that made
// the file's keys. Raise it with each change that gives a text another key, a first key, or no key any more.
inline constexpr std::uint8_t kKeyForm = 1;

// How keys are made. The filter file stores it, and every look-up follows the file.
struct AddressProfile {
  bool keep_local_part_case = false;  // false: `Joe@` and `joe@` are one mailbox
  TagSeparators tag_separators = {};  // with '+': `joe+x@` and `joe@` are one mailbox

  friend bool operator==(const AddressProfile&, const AddressProfile&) = default;
};

}  // namespace bloomgate
