#include "filter/layout/sorted_hashes.hpp"

#include <algorithm>
#include <limits>

#include "filter/base/little_endian.hpp"

namespace bloomgate {
namespace {

// The estimated index, from 0 to size - 1, of `hash` among `size` hashes that are even over [low, high].
std::uint64_t interpolate(KeyHash hash, KeyHash low, KeyHash high, std::uint64_t size) noexcept {
  const double share = static_cast<double>(hash - low) / (static_cast<double>(high - low) + 1);
  return std::min(static_cast<std::uint64_t>(share * static_cast<double>(size)), size - 1);
}

}  // namespace

KeyHash SortedHashes::operator[](std::uint64_t index) const noexcept {
  return load_little_endian<KeyHash>(bytes_.data() + index * kHashBytes);
}

bool SortedHashes::contains(KeyHash hash) const noexcept {
  constexpr int kInterpolations = 8;  // then bisection: hashes that are not even cost only some steps more
  std::uint64_t begin = 0;
  std::uint64_t end = size();
  // All hashes in [begin, end) are in [low, high], and so is `hash`.
  KeyHash low = 0;
  KeyHash high = std::numeric_limits<KeyHash>::max();
  for (int step = 0; begin < end; ++step) {
    const std::uint64_t size = end - begin;
    const std::uint64_t at = begin + (step < kInterpolations ? interpolate(hash, low, high, size) : size / 2);
    const KeyHash found = (*this)[at];
    if (found == hash) return true;
    // If the bytes are not sorted, `low` must still not pass `high`.
    if (found < hash) {
      begin = at + 1;
      low = std::max(low, found);
    } else {
      end = at;
      high = std::min(high, found);
    }
  }
  return false;
}

bool SortedHashes::is_strictly_ascending() const noexcept {
  for (std::uint64_t i = 1; i < size(); ++i) {
    if ((*this)[i] <= (*this)[i - 1]) return false;
  }
  return true;
}

}  // namespace bloomgate
