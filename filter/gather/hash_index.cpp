#include "filter/gather/hash_index.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace bloomgate {
namespace {

// Between 16 and 32 ranges for each hash.
constexpr unsigned kLogOfRanges = 4;

}  // namespace

HashIndex::HashIndex(std::vector<KeyHash> sorted) : hashes_(std::move(sorted)) {
  if (hashes_.empty()) return;
  // Hashes need not reach up to 2^64: those of the layout partitioned do not.
  const auto width = static_cast<unsigned>(std::bit_width(hashes_.back() | 1));
  const unsigned range_bits = static_cast<unsigned>(std::bit_width(hashes_.size())) + kLogOfRanges;
  shift_ = width > range_bits ? width - range_bits : 0;
  const std::uint64_t words = (hashes_.back() >> shift_) / 64 + 1;
  words_.resize(words);
  begins_.resize(words);
  std::uint64_t next = 0;  // the next word
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    const std::uint64_t range = hashes_[i] >> shift_;
    for (; next <= range / 64; ++next) begins_[next] = static_cast<std::uint32_t>(i);
    words_[range / 64] |= std::uint64_t{1} << range % 64;
  }
}

std::size_t HashIndex::find_from(std::size_t at, KeyHash hash) const noexcept {
  while (at < hashes_.size() && hashes_[at] < hash) ++at;
  return at < hashes_.size() && hashes_[at] == hash ? at : kAbsent;
}

}  // namespace bloomgate
