// The layout line: a look-up touches one cache line (or a few neighbours), for a tenth more false positives at 8 bits
// an entry and twice as many at 16, since the entries fall unevenly on blocks this small.
#include "filter/layout/blocked_layout.hpp"
#include "filter/layout/layouts.hpp"

namespace bloomgate {

const LayoutRules& line_layout() noexcept {
  static constexpr BlockedLayout kRules("line", 64, 512);
  return kRules;
}

}  // namespace bloomgate
