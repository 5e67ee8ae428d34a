#include "filter/gather/sort_hashes.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace bloomgate {
namespace {

constexpr unsigned kLogOfGroup = 9;             // hashes of a group, on average: 8 KiB at most, twice
constexpr std::size_t kMostOfEvenGroup = 4096;  // larger groups only occur if hashes are not even

// Turns counts into the positions where each bucket begins.
template <typename Count>
void begin_buckets(std::vector<Count>& counts) noexcept {
  Count begin = 0;
  for (Count& count : counts) begin = static_cast<Count>(begin + std::exchange(count, begin));
}

// The bits of a hash after the `common_bits`; at least one bit.
class Digit {
 public:
  Digit(unsigned common_bits, unsigned bits) noexcept
      : shift_(64 - common_bits - bits), mask_((std::uint64_t{1} << bits) - 1) {}
  std::size_t of(KeyHash hash) const noexcept { return hash >> shift_ & mask_; }

 private:
  unsigned shift_;
  std::uint64_t mask_;
};

// Insertion sort, for hashes of which few are far from their final positions. Returns false if many are and it gave up:
// then all hashes are still there, in some order.
bool finish_order(std::span<KeyHash> hashes) noexcept {
  std::size_t moves_left = 8 * hashes.size();
  for (std::size_t i = 1; i < hashes.size(); ++i) {
    const KeyHash hash = hashes[i];
    if (hashes[i - 1] <= hash) continue;
    std::size_t at = i;
    do {
      hashes[at] = hashes[at - 1];
      --at;
    } while (at > 0 && hashes[at - 1] > hash);
    hashes[at] = hash;
    if (i - at > moves_left) return false;
    moves_left -= i - at;
  }
  return true;
}

}  // namespace

void HashSorter::sort(std::span<const KeyHash> hashes, unsigned common_bits, std::vector<KeyHash>& out) {
  const auto width = static_cast<unsigned>(std::bit_width(hashes.size()));
  const unsigned bits = std::clamp(width, kLogOfGroup + 1, kLogOfGroup + 12) - kLogOfGroup;
  const Digit digit(common_bits, bits);
  group_ends_.assign(std::size_t{1} << bits, 0);
  for (const KeyHash hash : hashes) ++group_ends_[digit.of(hash)];
  begin_buckets(group_ends_);
  grouped_.resize(hashes.size());
  for (const KeyHash hash : hashes) grouped_[group_ends_[digit.of(hash)]++] = hash;
  std::size_t kept = out.size();
  out.resize(kept + hashes.size());
  std::uint32_t begin = 0;
  for (const std::uint32_t end : group_ends_) {
    const auto group = std::span(grouped_).subspan(begin, end - begin);
    begin = end;
    sort_group(group, common_bits + bits);
    kept = static_cast<std::size_t>(
        std::ranges::unique_copy(group, out.begin() + static_cast<std::ptrdiff_t>(kept)).out - out.begin());
  }
  out.resize(kept);
}

void HashSorter::sort_group(std::span<KeyHash> group, unsigned common_bits) {
  if (group.size() > kMostOfEvenGroup) {
    std::ranges::sort(group);
  } else if (group.size() > 1) {
    sort_even_group(group, common_bits);
  }
}

void HashSorter::sort_even_group(std::span<KeyHash> group, unsigned common_bits) {
  const Digit digit(common_bits, static_cast<unsigned>(std::bit_width(group.size())));
  bucket_ends_.assign(std::size_t{1} << std::bit_width(group.size()), 0);
  for (const KeyHash hash : group) ++bucket_ends_[digit.of(hash)];
  begin_buckets(bucket_ends_);
  bucketed_.resize(std::max(bucketed_.size(), group.size()));
  for (const KeyHash hash : group) bucketed_[bucket_ends_[digit.of(hash)]++] = hash;
  const std::span<KeyHash> bucketed = std::span(bucketed_).first(group.size());
  if (!finish_order(bucketed)) std::ranges::sort(bucketed);
  std::ranges::copy(bucketed, group.begin());
}

}  // namespace bloomgate
