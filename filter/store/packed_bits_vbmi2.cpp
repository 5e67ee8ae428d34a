// For processors with AVX-512 up to VBMI2, and POPCNT.
#ifdef __x86_64__
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>

#include "filter/base/little_endian.hpp"
#include "filter/store/packed_bits.hpp"

// Some intrinsics have a mask with all bits set: GCC 12 warns of the undefined start value of those without a mask.
namespace bloomgate {
namespace {

constexpr std::size_t kLanes = 8;
constexpr __mmask64 kAllBytes = ~__mmask64{0};
constexpr __mmask32 kAllWords = ~__mmask32{0};
constexpr std::uint64_t kPackedWordBits = 64;
constexpr std::size_t kMostHashes = 8 * 4096 / PackedBits::kLeastLowBits;  // of a page

// Where the low bits of eight hashes are, counted from the byte in which the first ones begin. It is the same for each
// group of eight hashes of a page, since eight times the low bits are whole bytes.
struct Places {
  alignas(64) std::array<std::uint8_t, 64> bytes_of_lane = {};  // the eight bytes of each
  alignas(64) std::array<std::uint64_t, kLanes> shifts = {};    // in these
  alignas(64) std::array<std::uint8_t, 64> even_lanes = {};  // for each byte, the byte of a register that it comes from
  alignas(64) std::array<std::uint8_t, 64> odd_lanes = {};
  std::uint64_t has_even = 0;  // bytes that have bits of such a lane
  std::uint64_t has_odd = 0;

  Places(unsigned low_bits, std::uint64_t begin) noexcept {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t at = begin % 8 + lane * low_bits;
      shifts[lane] = at % 8;
      auto& source = lane % 2 == 0 ? even_lanes : odd_lanes;
      auto& has = lane % 2 == 0 ? has_even : has_odd;
      for (std::size_t byte = 0; byte < 8; ++byte) {
        bytes_of_lane[8 * lane + byte] = static_cast<std::uint8_t>(at / 8 + byte);
        if (8 * byte >= at % 8 + low_bits) continue;
        source[at / 8 + byte] = static_cast<std::uint8_t>(8 * lane + byte);
        has |= std::uint64_t{1} << (at / 8 + byte);
      }
    }
  }
};

__m512i fill(std::uint64_t word) noexcept {
  return _mm512_set1_epi64(static_cast<long long>(word));
}

// The positions of the ones of the unary part. `out` must have room for kPackedWordBits more than there are.
void find_ones(std::span<const std::byte> bits, std::uint64_t high_bits, std::uint16_t* out) noexcept {
  alignas(64) std::array<std::uint8_t, 64> numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint8_t>(i);
  const __m512i all = _mm512_load_si512(numbers.data());
  for (std::uint64_t begin = 0; begin < high_bits; begin += kPackedWordBits) {
    auto word = load_little_endian<std::uint64_t>(bits.data() + begin / 8);
    if (high_bits - begin < kPackedWordBits) word &= (std::uint64_t{1} << (high_bits - begin)) - 1;
    const __m512i ones = _mm512_maskz_compress_epi8(word, all);
    const __m512i before = _mm512_set1_epi16(static_cast<short>(begin));
    const __m512i first = _mm512_maskz_cvtepu8_epi16(kAllWords, _mm512_maskz_extracti64x4_epi64(0xf, ones, 0));
    const __m512i second = _mm512_maskz_cvtepu8_epi16(kAllWords, _mm512_maskz_extracti64x4_epi64(0xf, ones, 1));
    _mm512_storeu_si512(out, _mm512_add_epi16(first, before));
    _mm512_storeu_si512(out + 32, _mm512_add_epi16(second, before));
    out += std::popcount(word);
  }
}

void put_ones(std::span<const KeyHash> hashes, unsigned low_bits, std::byte* bits) noexcept {
  const auto put = [&](std::size_t i) {
    const std::uint64_t one = ((hashes[i] - hashes.front()) >> low_bits) + i;
    std::byte* const word = bits + one / kPackedWordBits * 8;
    store_little_endian(word, load_little_endian<std::uint64_t>(word) | std::uint64_t{1} << (one % kPackedWordBits));
  };
  // In four places alternately, since a word that was just written takes some time to be read.
  const std::size_t quarter = hashes.size() / 4;
  for (std::size_t i = 0; i < quarter; ++i) {
    for (std::size_t part = 0; part < 4; ++part) put(part * quarter + i);
  }
  for (std::size_t i = 4 * quarter; i < hashes.size(); ++i) put(i);
}

std::uint64_t low_bits_at(std::span<const std::byte> bits, std::uint64_t at, unsigned low_bits) noexcept {
  // The last bytes, where no load of a word may start.
  const std::uint64_t begin = std::min<std::uint64_t>(at / 8, bits.size() - 8);
  const auto word = load_little_endian<std::uint64_t>(bits.data() + begin);
  return word >> (at - 8 * begin) & ((std::uint64_t{1} << low_bits) - 1);
}

}  // namespace

void PackedBits::pack(std::span<const KeyHash> hashes, unsigned low_bits, std::uint64_t high_bits,
                      std::byte* bits) noexcept {
  put_ones(hashes, low_bits, bits);
  const Places places(low_bits, high_bits);
  const __m512i shifts = _mm512_load_si512(places.shifts.data());
  const __m512i even = _mm512_load_si512(places.even_lanes.data());
  const __m512i odd = _mm512_load_si512(places.odd_lanes.data());
  const __m512i first = fill(hashes.front());
  const __m512i low = fill((std::uint64_t{1} << low_bits) - 1);
  std::byte* to = bits + high_bits / 8;
  // The byte in which the unary part, or the previous eight hashes, ended.
  __m512i begun = _mm512_maskz_loadu_epi8(1, to);
  const __m512i last_byte = _mm512_set1_epi8(static_cast<char>(low_bits));
  for (std::size_t i = 0; i < hashes.size(); i += kLanes, to += low_bits) {
    const std::size_t left = hashes.size() - i;
    const auto lanes = static_cast<__mmask8>(left < kLanes ? (1U << left) - 1 : 0xff);
    const __m512i distance = _mm512_maskz_sub_epi64(lanes, _mm512_maskz_loadu_epi64(lanes, hashes.data() + i), first);
    const __m512i shifted = _mm512_maskz_sllv_epi64(0xff, _mm512_and_si512(distance, low), shifts);
    const __m512i bytes = _mm512_or_si512(_mm512_maskz_permutexvar_epi8(places.has_even, even, shifted),
                                          _mm512_maskz_permutexvar_epi8(places.has_odd, odd, shifted));
    const __m512i whole = _mm512_or_si512(bytes, begun);
    _mm512_storeu_si512(to, whole);
    begun = _mm512_maskz_permutexvar_epi8(1, last_byte, whole);
  }
}

bool PackedBits::unpack(std::span<const std::byte> bits, unsigned low_bits, std::uint64_t high_bits, KeyHash first,
                        std::span<KeyHash> out) noexcept {
  std::array<std::uint16_t, kMostHashes + kPackedWordBits> ones;
  find_ones(bits, high_bits, ones.data());
  const Places places(low_bits, high_bits);
  const __m512i bytes_of_lane = _mm512_load_si512(places.bytes_of_lane.data());
  const __m512i shifts = _mm512_load_si512(places.shifts.data());
  const __m512i low = fill((std::uint64_t{1} << low_bits) - 1);
  const __m128i high_shift = _mm_cvtsi64_si128(low_bits);
  const __m512i firsts = fill(first);
  __m512i numbers = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  __m512i last = fill(0);
  unsigned ascending = 1;  // a bit for each lane; the first distance of all is 0
  std::size_t index = 0;
  std::uint64_t at = high_bits / 8;
  for (unsigned first_lane = 1; index + kLanes <= out.size() && at + kAtOnce <= bits.size(); first_lane = 0) {
    const __m512i in_lanes =
        _mm512_maskz_permutexvar_epi8(kAllBytes, bytes_of_lane, _mm512_loadu_si512(bits.data() + at));
    const __m512i lows = _mm512_and_si512(_mm512_maskz_srlv_epi64(0xff, in_lanes, shifts), low);
    const __m512i positions =
        _mm512_maskz_cvtepu16_epi64(0xff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(&ones[index])));
    const __m512i highs = _mm512_maskz_sll_epi64(0xff, _mm512_sub_epi64(positions, numbers), high_shift);
    const __m512i distance = _mm512_or_si512(highs, lows);
    const __m512i before = _mm512_maskz_alignr_epi64(0xff, distance, last, 7);
    const unsigned greater = _mm512_cmpgt_epu64_mask(distance, before) | first_lane;
    ascending &= greater == 0xff ? 1U : 0U;
    _mm512_storeu_si512(&out[index], _mm512_add_epi64(firsts, distance));
    last = distance;
    numbers = _mm512_add_epi64(numbers, fill(kLanes));
    index += kLanes;
    at += low_bits;
  }
  std::uint64_t before = index == 0 ? 0 : out[index - 1] - first;
  for (; index < out.size(); ++index) {
    const std::uint64_t high = ones[index] - index;
    const std::uint64_t distance = high << low_bits | low_bits_at(bits, high_bits + index * low_bits, low_bits);
    if (index != 0 && distance <= before) ascending = 0;
    before = distance;
    out[index] = first + distance;
  }
  return ascending != 0 && out.front() == first && first + before >= first;
}

}  // namespace bloomgate
#endif
