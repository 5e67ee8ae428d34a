// How keys are made from addresses: what an operator chooses when a filter is built. A plain value.
#pragma once

#include <cstdint>

#include "filter/address/tag_separators.hpp"

namespace bloomgate {

// Which rules make keys from text: the number that each file has, so that a key is looked up by the rules that it was
// made by. A change that gives any text another key, or one where it had none, or none, raises it.
inline constexpr std::uint8_t kKeyForm = 1;

// How keys are made. The filter file stores it, and every look-up follows the file.
struct AddressProfile {
  bool keep_local_part_case = false;  // false: `Joe@` and `joe@` are one mailbox
  TagSeparators tag_separators = {};  // with '+': `joe+x@` and `joe@` are one mailbox

  friend bool operator==(const AddressProfile&, const AddressProfile&) = default;
};

}  // namespace bloomgate
