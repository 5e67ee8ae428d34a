#include "filter/build/sort_hashes.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace bloomgate {
namespace {

// Few enough that each comes to its place by a few moves.
constexpr unsigned kLogOfBucket = 2;
constexpr std::size_t kFewHashes = 32;

void sort_bucket(std::span<KeyHash> hashes) {
  if (hashes.size() > kFewHashes) {
    std::ranges::sort(hashes);
    return;
  }
  for (std::size_t i = 1; i < hashes.size(); ++i) {
    const KeyHash hash = hashes[i];
    std::size_t at = i;
    for (; at > 0 && hashes[at - 1] > hash; --at) hashes[at] = hashes[at - 1];
    hashes[at] = hash;
  }
}

}  // namespace

void sort_hashes(const std::vector<KeyHash>& hashes, unsigned common_bits, std::vector<KeyHash>& out) {
  const auto width = static_cast<unsigned>(std::bit_width(hashes.size()));
  const unsigned bucket_bits = std::clamp(width, kLogOfBucket + 1, 20 + kLogOfBucket) - kLogOfBucket;
  const unsigned shift = 64 - common_bits - bucket_bits;
  const std::uint64_t mask = (std::uint64_t{1} << bucket_bits) - 1;
  const auto bucket_of = [&](KeyHash hash) { return hash >> shift & mask; };
  thread_local std::vector<std::uint32_t> ends;
  ends.assign(std::size_t{1} << bucket_bits, 0);
  for (const KeyHash hash : hashes) ++ends[bucket_of(hash)];
  std::uint32_t begin = 0;
  for (std::uint32_t& end : ends) begin += std::exchange(end, begin);
  out.resize(hashes.size());
  for (const KeyHash hash : hashes) out[ends[bucket_of(hash)]++] = hash;
  begin = 0;
  for (const std::uint32_t end : ends) {
    sort_bucket(std::span(out).subspan(begin, end - begin));
    begin = end;
  }
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

}  // namespace bloomgate
