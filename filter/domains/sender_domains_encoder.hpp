// Encodes the section `sender-domains` (domain_coding.hpp) from domains in ascending order, in one pass and with little
// memory: that of a chunk, and 8 bytes for each group, which is 0.05 bytes a domain.
//
// Used by code that writes a filter's file, in one thread. Call order: constructor, add*, finish. The number of domains
// must be known before, so they are counted first (CountOfDomains), or estimated: the coding depends only on the
// smallest power of two that is not less.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "filter/domains/domain_coding.hpp"

namespace bloomgate {

// How many different domains there are among numbers in ascending order.
class CountOfDomains {
 public:
  void add(DomainNumber number) noexcept {
    count_ += count_ == 0 || number != last_ ? 1U : 0U;
    last_ = number;
  }
  void add(std::span<const DomainNumber> ascending) noexcept {
    for (const DomainNumber number : ascending) add(number);
  }
  std::uint64_t count() const noexcept { return count_; }

 private:
  std::uint64_t count_ = 0;
  DomainNumber last_ = 0;
};

class SenderDomainsEncoder {
 public:
  // Called with the bytes of the section from its front to its end: `chunk_bytes` at a time, the last time maybe fewer.
  using Use = std::function<void(std::span<const std::byte> bytes)>;

  // `domains` is the number of different domains, at most kMostSenderDomains, or a number with the same
  // std::bit_ceil(). `chunk_bytes` must be whole words.
  SenderDomainsEncoder(std::uint64_t domains, std::size_t chunk_bytes, Use use);

  // Adds numbers in ascending order, none less than those before. A number that equals the one before it is dropped. If
  // there are more numbers than the coding suits, the excess is only counted. Throws what `use` throws.
  void add(std::span<const DomainNumber> numbers);

  // The number of different domains that were added.
  std::uint64_t count() const noexcept { return count_; }
  // Whether the coding is the one for that number.
  bool suits_count() const noexcept { return DomainCoding(count_).buckets() == coding_.buckets(); }

  // Encodes the rest. Throws what `use` throws, std::logic_error if the coding does not suit the number of domains, and
  // BloomgateError{bad_input} if a bucket has more than DomainCoding::kMostOfBucket: then the domains were chosen for
  // this seed.
  void finish();

 private:
  void end_groups_before(std::uint64_t group);
  void end_group();
  void put(std::uint64_t bits, unsigned count);
  void put_word(std::uint64_t word);
  void use_chunk();

  DomainCoding coding_;
  Use use_;
  std::vector<std::byte> chunk_;
  std::size_t chunk_used_ = 0;
  std::vector<std::uint64_t> table_;  // the domains before each group that has begun
  std::vector<DomainNumber> group_;   // the domains of the group that is being filled
  std::vector<std::uint64_t> unary_;  // its words
  std::uint64_t in_groups_ = 0;       // domains of the groups that have ended
  std::uint64_t count_ = 0;
  DomainNumber last_ = 0;
  bool has_full_bucket_ = false;  // a bucket with more domains than it may have
  std::uint64_t word_ = 0;        // bits that are not in the chunk yet
  unsigned word_bits_ = 0;
};

}  // namespace bloomgate
