// The coding of the section `sender-domains` of a filter: FORMAT.md, "Sender domains". Sizes and offsets only. Pure;
// safe from any thread.
//
// A domain is a number of 60 bits, whatever the number of domains, so that the union of two sections is the section of
// the united lists. If the range of the numbers followed the number of domains, a section would be smaller for short
// lists (4 bytes a domain), but sections could not be united: the numbers would lack the bits of the larger range.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "filter/hash/hash.hpp"

namespace bloomgate {

// A domain in the section: the high 60 bits of the hash of `@domain`.
using DomainNumber = std::uint64_t;

inline constexpr unsigned kDomainNumberBits = 60;

constexpr DomainNumber domain_number(KeyHash hash) noexcept {
  return hash >> (64 - kDomainNumberBits);
}

// The least hash with that number.
constexpr KeyHash hash_of_number(DomainNumber number) noexcept {
  return number << (64 - kDomainNumberBits);
}

// Far more than there are, and few enough that no offset in the section needs more than 64 bits.
inline constexpr std::uint64_t kMostSenderDomains = std::uint64_t{1} << 48;

// Elias-Fano coding: a number consists of its bucket, which is its high bits, and of its low bits. The buckets come in
// groups. Each group has the number of domains of each bucket in unary, and then the low bits of its domains.
class DomainCoding {
 public:
  static constexpr std::uint64_t kBucketsOfGroup = 256;
  // The most domains that a bucket may have. So a look-up reads at most 17 kbit, whatever the file has. There are at
  // least as many buckets as domains, and an unpredictable seed makes the hashes even. So a given bucket has more
  // with a probability of at most 1 / 65!, and any of 2^48 buckets with less than 10^-76.
  static constexpr std::uint64_t kMostOfBucket = 64;

  // `domains` must be at most kMostSenderDomains.
  explicit constexpr DomainCoding(std::uint64_t domains) noexcept
      : domains_(domains), buckets_(std::bit_ceil(domains)), low_bits_(kDomainNumberBits - log2_of_buckets()) {}

  constexpr std::uint64_t domains() const noexcept { return domains_; }
  constexpr std::uint64_t buckets() const noexcept { return buckets_; }  // at least `domains` and 1; a power of two
  constexpr unsigned low_bits() const noexcept { return low_bits_; }
  constexpr std::uint64_t groups() const noexcept { return (buckets_ + kBucketsOfGroup - 1) / kBucketsOfGroup; }
  constexpr std::uint64_t buckets_of_group() const noexcept { return std::min(buckets_, kBucketsOfGroup); }
  constexpr std::uint64_t most_of_group() const noexcept { return buckets_of_group() * kMostOfBucket; }

  constexpr std::uint64_t bucket_of(DomainNumber number) const noexcept { return number >> low_bits_; }
  constexpr std::uint64_t low_of(DomainNumber number) const noexcept { return number & low_mask(); }
  constexpr std::uint64_t low_mask() const noexcept { return (std::uint64_t{1} << low_bits_) - 1; }

  // The bit where a group begins if the groups before it have so many domains.
  constexpr std::uint64_t begin_of_group(std::uint64_t group, std::uint64_t domains_before) const noexcept {
    return group * kBucketsOfGroup + domains_before * (low_bits_ + 1);
  }
  // The size of all groups, in bits and in bytes: whole words.
  constexpr std::uint64_t group_bits() const noexcept { return buckets_ + domains_ * (low_bits_ + 1); }
  constexpr std::uint64_t group_bytes() const noexcept { return (group_bits() + 63) / 64 * 8; }
  // After the groups follow 8 bytes for each group: the number of domains before it.
  constexpr std::uint64_t section_bytes() const noexcept { return group_bytes() + 8 * groups(); }

 private:
  constexpr unsigned log2_of_buckets() const noexcept { return static_cast<unsigned>(std::countr_zero(buckets_)); }

  std::uint64_t domains_;
  std::uint64_t buckets_;
  unsigned low_bits_;
};

}  // namespace bloomgate
