// The layout page: a look-up touches one page of memory (one entry of the TLB, at worst one read from the disk), and
// with thousands of entries in each block the false-positive rate is that of a classic filter.
#include "filter/layout/blocked_layout.hpp"
#include "filter/layout/layouts.hpp"

namespace bloomgate {

const LayoutRules& page_layout() noexcept {
  static constexpr BlockedLayout kRules("page", 4096, std::uint32_t{1} << 20);
  return kRules;
}

}  // namespace bloomgate
