#include "filter/store/store_page.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "filter/base/little_endian.hpp"
#include "filter/store/packed_bits.hpp"

namespace bloomgate {
namespace {

// The offsets of the parts of a page.
constexpr std::size_t kFirstOffset = 0;
constexpr std::size_t kCountOffset = 8;
constexpr std::size_t kHighBitsOffset = 12;
constexpr std::size_t kBitsOffset = 16;
constexpr std::size_t kChecksumOffset = kStorePageBytes - 8;
constexpr std::uint64_t kRoomBits = 8 * (kChecksumOffset - kBitsOffset);
constexpr std::uint64_t kWordBits = 64;
constexpr std::size_t kWords = kRoomBits / kWordBits;

// The bits of a page, and spare room after them.
using Words = std::array<std::uint64_t, kWords + PackedBits::kAtOnce / sizeof(std::uint64_t)>;

constexpr std::uint64_t low_mask(unsigned low_bits) noexcept {
  return (std::uint64_t{1} << low_bits) - 1;
}

std::uint64_t checksum_of(StorePageBytes bytes, std::uint64_t page) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), kChecksumOffset, page);
}

// The bits between header and checksum, as words.
std::uint64_t word_at(StorePageBytes bytes, std::size_t index) noexcept {
  return load_little_endian<std::uint64_t>(bytes.data() + kBitsOffset + index * sizeof(std::uint64_t));
}

// The first fields of a page, and whether they are possible.
struct Head {
  KeyHash first = 0;
  std::uint64_t count = 0;
  std::uint64_t high_bits = 0;
};

std::optional<Head> head_of(StorePageBytes bytes, unsigned low_bits) noexcept {
  const Head head = {load_little_endian<KeyHash>(bytes.data() + kFirstOffset),
                     load_little_endian<std::uint32_t>(bytes.data() + kCountOffset),
                     load_little_endian<std::uint32_t>(bytes.data() + kHighBitsOffset)};
  // Products of numbers below 2^32 and 2^6 do not wrap.
  const bool is_possible = head.count >= 1 && head.high_bits >= head.count && low_bits <= kMostLowBits &&
                           head.high_bits <= kRoomBits && head.count * low_bits <= kRoomBits - head.high_bits;
  return is_possible ? std::optional(head) : std::nullopt;
}

std::uint64_t bits_at(StorePageBytes bytes, std::uint64_t at, unsigned count) noexcept {
  if (count == 0) return 0;
  const std::size_t word = at / kWordBits;
  const unsigned shift = at % kWordBits;
  std::uint64_t bits = word_at(bytes, word) >> shift;
  if (shift + count > kWordBits) bits |= word_at(bytes, word + 1) << (kWordBits - shift);
  return bits & low_mask(count);
}

// The low bits of an entry; head_of() has found that they are in the page.
std::uint64_t low_of(StorePageBytes bytes, const Head& head, unsigned low_bits, std::uint64_t index) noexcept {
  return bits_at(bytes, head.high_bits + index * low_bits, low_bits);
}

// Writes numbers of the same width one after the other, a word at a time.
class BitWriter {
 public:
  // They begin at the bit `at`; each has `bits` bits, at most 63.
  BitWriter(Words& words, std::uint64_t at, unsigned bits) noexcept
      : word_(words.data() + at / kWordBits), used_(static_cast<unsigned>(at % kWordBits)), bits_(bits) {}

  void put(std::uint64_t value) noexcept {
    pending_ |= value << used_;
    used_ += bits_;
    if (used_ < kWordBits) return;
    *word_++ |= pending_;
    used_ -= static_cast<unsigned>(kWordBits);
    pending_ = value >> (bits_ - used_);  // by 1 to 63
  }

  void finish() noexcept {
    if (used_ != 0) *word_ |= pending_;
  }

 private:
  std::uint64_t* word_;
  unsigned used_;
  unsigned bits_;
  std::uint64_t pending_ = 0;
};

void put_one_by_one(std::span<const KeyHash> hashes, unsigned low_bits, std::uint64_t high_bits,
                    Words& words) noexcept {
  const std::uint64_t mask = low_mask(low_bits);
  BitWriter low(words, high_bits, low_bits);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::uint64_t distance = hashes[i] - hashes.front();
    const std::uint64_t one = (distance >> low_bits) + i;
    words[one / kWordBits] |= std::uint64_t{1} << (one % kWordBits);
    low.put(distance & mask);
  }
  low.finish();
}

// The low bits of the entries, one after the other. With kInOneLoad they are few enough that one load of 64 bits has
// them, wherever they begin. Such a load ends within the page, whose last bytes are the checksum.
template <bool kInOneLoad>
class LowBits {
 public:
  LowBits(StorePageBytes bytes, const Head& head, unsigned low_bits) noexcept
      : bytes_(bytes), at_(head.high_bits), low_bits_(low_bits), mask_(low_mask(low_bits)) {}

  static constexpr unsigned kMostInOneLoad = 57;

  std::uint64_t next() noexcept {
    const std::uint64_t at = at_;
    at_ += low_bits_;
    if constexpr (kInOneLoad) {
      return load_little_endian<std::uint64_t>(bytes_.data() + kBitsOffset + at / 8) >> (at % 8) & mask_;
    } else {
      return bits_at(bytes_, at, low_bits_);
    }
  }

 private:
  StorePageBytes bytes_;
  std::uint64_t at_;
  unsigned low_bits_;
  std::uint64_t mask_;
};

// A word of the unary part, without the bits after it.
std::uint64_t high_word(StorePageBytes bytes, const Head& head, std::uint64_t begin) noexcept {
  const std::uint64_t left = head.high_bits - begin;
  const std::uint64_t word = word_at(bytes, begin / kWordBits);
  return left < kWordBits ? word & low_mask(static_cast<unsigned>(left)) : word;
}

std::uint64_t count_ones(StorePageBytes bytes, const Head& head) noexcept {
  std::uint64_t ones = 0;
  for (std::uint64_t begin = 0; begin < head.high_bits; begin += kWordBits) {
    ones += static_cast<unsigned>(std::popcount(high_word(bytes, head, begin)));
  }
  return ones;
}

// `out` must have room for as many hashes as there are ones. Returns whether they ascend from the first one, which is
// at distance 0. The greatest high part must not be too large.
template <bool kInOneLoad>
bool decode_hashes(StorePageBytes bytes, const Head& head, unsigned low_bits, KeyHash* out) noexcept {
  LowBits<kInOneLoad> low(bytes, head, low_bits);
  std::uint64_t index = 0;
  std::uint64_t last = 0;
  bool ascends = true;
  for (std::uint64_t begin = 0; begin < head.high_bits; begin += kWordBits) {
    for (std::uint64_t word = high_word(bytes, head, begin); word != 0; word &= word - 1, ++index) {
      const std::uint64_t high = begin + static_cast<unsigned>(std::countr_zero(word)) - index;
      const std::uint64_t distance = (high << low_bits) | low.next();
      ascends &= index == 0 ? distance == 0 : distance > last;
      last = distance;
      out[index] = head.first + distance;
    }
  }
  return ascends && head.first + last >= head.first;
}

}  // namespace

unsigned low_bits_for(std::uint64_t hashes) noexcept {
  // 2^64 / hashes lies between 2^(64 - width) and 2^(65 - width), and is the latter for a power of two.
  const auto width = static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(hashes, 1)));
  return std::min(kMostLowBits, std::has_single_bit(hashes) ? 65 - width : 64 - width);
}

std::size_t hashes_in_page(std::span<const KeyHash> hashes, unsigned low_bits) noexcept {
  // One more hash never takes less room, so bisection finds the last one that fits.
  const auto fits = [&](std::size_t count) {
    const std::uint64_t high = (hashes[count - 1] - hashes.front()) >> low_bits;
    const std::uint64_t room = kRoomBits - count * (low_bits + 1);
    return high <= room;
  };
  std::size_t most = std::min(hashes.size(), most_hashes_in_page(low_bits));
  std::size_t least = 1;
  while (least < most) {
    const std::size_t middle = least + (most - least + 1) / 2;
    if (fits(middle)) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  return least;
}

void encode_store_page(std::span<const KeyHash> hashes, unsigned low_bits, std::uint64_t page,
                       std::span<std::byte, kStorePageBytes> out, PageCoding coding) noexcept {
  const KeyHash first = hashes.front();
  const std::uint64_t high_bits = ((hashes.back() - first) >> low_bits) + hashes.size();
  Words words = {};
  if (coding == PageCoding::fastest && PackedBits::can_do(low_bits)) {
    PackedBits::pack(hashes, low_bits, high_bits, std::as_writable_bytes(std::span(words)).data());
  } else {
    put_one_by_one(hashes, low_bits, high_bits, words);
  }
  store_little_endian(out.data() + kFirstOffset, first);
  store_little_endian(out.data() + kCountOffset, static_cast<std::uint32_t>(hashes.size()));
  store_little_endian(out.data() + kHighBitsOffset, static_cast<std::uint32_t>(high_bits));
  for (std::size_t i = 0; i < kWords; ++i) {
    store_little_endian(out.data() + kBitsOffset + i * sizeof(std::uint64_t), words[i]);
  }
  store_little_endian(out.data() + kChecksumOffset, checksum_of(out, page));
}

bool store_page_is_sound(StorePageBytes bytes, std::uint64_t page) noexcept {
  return load_little_endian<std::uint64_t>(bytes.data() + kChecksumOffset) == checksum_of(bytes, page);
}

bool store_page_contains(StorePageBytes bytes, unsigned low_bits, KeyHash hash) noexcept {
  const std::optional<Head> head = head_of(bytes, low_bits);
  if (!head || hash < head->first) return false;
  const std::uint64_t high = (hash - head->first) >> low_bits;
  const std::uint64_t low = (hash - head->first) & low_mask(low_bits);
  if (high > head->high_bits - head->count) return false;
  // The entries with these high bits are between the zero number `high` and the next zero.
  std::uint64_t zeros = 0;
  std::uint64_t at = 0;
  for (; zeros < high; at += kWordBits) {
    const auto in_word = static_cast<unsigned>(std::popcount(~word_at(bytes, at / kWordBits)));
    if (zeros + in_word >= high) break;
    zeros += in_word;
    if (at + kWordBits >= kRoomBits) return false;
  }
  for (; zeros < high && at < head->high_bits; ++at) {
    zeros += (word_at(bytes, at / kWordBits) >> (at % kWordBits) & 1) == 0 ? 1U : 0U;
  }
  for (; at < head->high_bits && (word_at(bytes, at / kWordBits) >> (at % kWordBits) & 1) != 0; ++at) {
    const std::uint64_t index = at - high;
    if (index >= head->count) return false;
    const std::uint64_t found = low_of(bytes, *head, low_bits, index);
    if (found >= low) return found == low;
  }
  return false;
}

bool decode_store_page(StorePageBytes bytes, unsigned low_bits, std::vector<KeyHash>& out, PageCoding coding) {
  const std::optional<Head> head = head_of(bytes, low_bits);
  if (!head || count_ones(bytes, *head) != head->count) return false;
  if (head->high_bits - head->count > ~std::uint64_t{0} >> low_bits) return false;
  const std::size_t before = out.size();
  out.resize(before + head->count);
  bool is_good = false;
  if (coding == PageCoding::fastest && PackedBits::can_do(low_bits)) {
    const auto bits = bytes.subspan(kBitsOffset, kWords * sizeof(std::uint64_t));
    is_good = PackedBits::unpack(bits, low_bits, head->high_bits, head->first, std::span(out).subspan(before));
  } else {
    const bool in_one_load = low_bits <= LowBits<true>::kMostInOneLoad;
    is_good = (in_one_load ? decode_hashes<true> : decode_hashes<false>)(bytes, *head, low_bits, &out[before]);
  }
  if (!is_good) out.resize(before);
  return is_good;
}

}  // namespace bloomgate
