#include "filter/domains/sender_domains.hpp"

#include <algorithm>
#include <bit>

#include "filter/base/little_endian.hpp"

namespace bloomgate {

namespace {

constexpr std::uint64_t kEachByte = 0x0101010101010101;
constexpr std::uint64_t kHighBits = 0x8080808080808080;

// In byte i, how many ones the bytes 0 to i have: without an instruction for it (Knuth, The Art of Computer Programming
// 4A, section 7.1.3).
std::uint64_t ones_up_to_each_byte(std::uint64_t word) noexcept {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  return ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * kEachByte;
}

// The position of a one by its number, 1 to 64; the word must have that many (Vigna, "Broadword implementation of
// rank/select queries", 2008).
unsigned place_of_one(std::uint64_t word, std::uint64_t ones_up_to, std::uint64_t number) noexcept {
  // Each byte with fewer ones up to its end has its high bit set here; no sum of eight of them overflows.
  const std::uint64_t before = (((number - 1) * kEachByte | kHighBits) - ones_up_to) & kHighBits;
  const unsigned byte = static_cast<unsigned>((before >> 7) * kEachByte >> 56);
  const std::uint64_t skipped = byte == 0 ? 0 : ones_up_to >> (8 * byte - 8) & 0xff;
  std::uint64_t rest = word >> 8 * byte;
  for (std::uint64_t left = number - skipped; left > 1; --left) rest &= rest - 1;
  return 8 * byte + static_cast<unsigned>(std::countr_zero(rest));
}

}  // namespace

std::uint64_t SenderDomains::word_of_groups(std::uint64_t word) const noexcept {
  return load_little_endian<std::uint64_t>(bytes_.data() + 8 * word);
}

std::uint64_t SenderDomains::word_of_table(std::uint64_t group) const noexcept {
  return load_little_endian<std::uint64_t>(bytes_.data() + coding_.group_bytes() + 8 * group);
}

// 64 bits from that bit on, which must be in the groups. The table follows the last word of the groups, so eight more
// bytes can always be read.
std::uint64_t SenderDomains::bits_at(std::uint64_t bit) const noexcept {
  const std::byte* const first = bytes_.data() + bit / 8;
  const unsigned shift = bit % 8;
  const std::uint64_t low = load_little_endian<std::uint64_t>(first) >> shift;
  return shift == 0 ? low : low | std::to_integer<std::uint64_t>(first[8]) << (64 - shift);
}

std::uint64_t SenderDomains::low_bits_at(const Group& group, std::uint64_t domain) const noexcept {
  return bits_at(group.begin + group.unary_bits + domain * coding_.low_bits()) & coding_.low_mask();
}

SenderDomains::Group SenderDomains::group_at(std::uint64_t group) const noexcept {
  const std::uint64_t before = word_of_table(group);
  const std::uint64_t end = group + 1 == coding_.groups() ? coding_.domains() : word_of_table(group + 1);
  if (before > end || end > coding_.domains() || end - before > coding_.most_of_group()) return {};
  return {.begin = coding_.begin_of_group(group, before),
          .domains = end - before,
          .unary_bits = end - before + coding_.buckets_of_group(),
          .is_possible = true};
}

void SenderDomains::prefetch(DomainNumber number) const noexcept {
  const std::uint64_t group = coding_.bucket_of(number) / DomainCoding::kBucketsOfGroup;
  __builtin_prefetch(bytes_.data() + coding_.group_bytes() + 8 * group);
}

SenderDomains::Group SenderDomains::prefetch_group(DomainNumber number) const noexcept {
  const std::uint64_t bucket = coding_.bucket_of(number);
  const Group group = group_at(bucket / DomainCoding::kBucketsOfGroup);
  if (!group.is_possible) return group;
  const std::byte* const unary = bytes_.data() + group.begin / 8;
  __builtin_prefetch(unary);
  __builtin_prefetch(unary + group.unary_bits / 8);
  // Where the low bits are on average.
  const std::uint64_t domain = bucket % DomainCoding::kBucketsOfGroup * group.domains / coding_.buckets_of_group();
  __builtin_prefetch(unary + (group.unary_bits + domain * coding_.low_bits()) / 8);
  return group;
}

bool SenderDomains::contains(DomainNumber number) const noexcept {
  return contains(number, group_at(coding_.bucket_of(number) / DomainCoding::kBucketsOfGroup));
}

bool SenderDomains::contains(DomainNumber number, const Group& group) const noexcept {
  const std::uint64_t buckets_before = coding_.bucket_of(number) % DomainCoding::kBucketsOfGroup;
  // A zero ends each bucket. So the bucket begins after as many zeros as there are buckets before it.
  std::uint64_t at = group.begin;
  if (buckets_before != 0) {
    std::uint64_t word = at / 64;
    std::uint64_t zeros = ~word_of_groups(word) & ~std::uint64_t{0} << at % 64;
    std::uint64_t left = buckets_before;
    std::uint64_t ones_up_to = ones_up_to_each_byte(zeros);
    for (; ones_up_to >> 56 < left; ones_up_to = ones_up_to_each_byte(zeros)) {
      left -= ones_up_to >> 56;
      if (64 * ++word >= group.begin + group.unary_bits) return false;
      zeros = ~word_of_groups(word);
    }
    at = 64 * word + place_of_one(zeros, ones_up_to, left) + 1U;
  }
  const std::uint64_t before = at - group.begin - buckets_before;
  if (before >= group.domains) return false;
  const std::uint64_t low = coding_.low_of(number);
  const auto in_bucket = static_cast<std::uint64_t>(std::countr_one(bits_at(at)));
  const std::uint64_t end = std::min(group.domains, before + in_bucket);
  for (std::uint64_t domain = before; domain < end; ++domain) {
    const std::uint64_t found = low_bits_at(group, domain);
    if (found >= low) return found == low;
  }
  return false;
}

bool SenderDomains::decode_group(std::uint64_t group_number, std::vector<DomainNumber>& out) const {
  const Group group = group_at(group_number);
  if (!group.is_possible) return false;
  std::uint64_t bucket = group_number * DomainCoding::kBucketsOfGroup;
  const std::uint64_t end_bucket = bucket + coding_.buckets_of_group();
  std::uint64_t at = 0;
  std::uint64_t last_low = 0;
  std::uint64_t in_bucket = 0;
  for (std::uint64_t domain = 0; domain < group.domains; ++at) {
    if (at >= group.unary_bits) return false;
    if ((bits_at(group.begin + at) & 1) == 0) {
      if (++bucket == end_bucket) return false;
      in_bucket = 0;
      continue;
    }
    const std::uint64_t low = low_bits_at(group, domain++);
    if (in_bucket != 0 && low <= last_low) return false;
    if (++in_bucket > DomainCoding::kMostOfBucket) return false;
    last_low = low;
    out.push_back(bucket << coding_.low_bits() | low);
  }
  // Only zeros are left, which end the last buckets.
  if (at == group.unary_bits) return false;
  for (; at < group.unary_bits; ++at) {
    if ((bits_at(group.begin + at) & 1) != 0) return false;
  }
  return true;
}

bool SenderDomains::groups_are_sound(std::uint64_t first, std::uint64_t end) const {
  std::vector<DomainNumber> domains;
  for (std::uint64_t group = first; group < end; ++group) {
    domains.clear();
    if (group == 0 && word_of_table(0) != 0) return false;
    if (!decode_group(group, domains)) return false;
  }
  const std::uint64_t used = coding_.group_bits();
  return end < coding_.groups() || used % 64 == 0 || word_of_groups(used / 64) >> used % 64 == 0;
}

}  // namespace bloomgate
