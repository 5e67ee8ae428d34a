// How keys are made from addresses: what an operator chooses when a filter is built. A plain value.
#pragma once

#include "filter/address/tag_separators.hpp"

namespace bloomgate {

// How keys are made. The filter file stores it, and every look-up follows the file.
struct AddressProfile {
  bool keep_local_part_case = false;  // false: `Joe@` and `joe@` are one mailbox
  TagSeparators tag_separators = {};  // with '+': `joe+x@` and `joe@` are one mailbox

  friend bool operator==(const AddressProfile&, const AddressProfile&) = default;
};

}  // namespace bloomgate
