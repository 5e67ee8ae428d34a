// The domains of all senders that the bits of a filter hold, as a section of the filter's file. An address whose domain
// is not among them is not listed, whatever the bits say.
//
// So a non-member is a false positive only at a domain that has a listed address. With n domains, a domain without a
// listed address is taken for one of them with a probability of n / 2^60: below 10^-9 for n = 10^9.
//
// A view: the bytes must outlive it. Look-ups are const, noexcept, allocate nothing and may run in any number of
// threads at once. They are safe and short, whatever the bytes hold; only for sound bytes are their answers right. A
// look-up reads one cache line of the table of the groups, one or two where its group begins, and one with the low
// bits. DomainCoding::kMostOfBucket bounds it for a section that an attacker made to be slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "filter/domains/domain_coding.hpp"

namespace bloomgate {

class SenderDomains {
 public:
  // Without a section: any domain may have a listed sender.
  SenderDomains() = default;
  // `bytes` must have the size that the coding of so many domains has; `domains` must be at most kMostSenderDomains.
  SenderDomains(std::span<const std::byte> bytes, std::uint64_t domains) noexcept : bytes_(bytes), coding_(domains) {}

  bool is_there() const noexcept { return !bytes_.empty(); }
  std::uint64_t size() const noexcept { return coding_.domains(); }
  const DomainCoding& coding() const noexcept { return coding_; }

  // The position of a group. It ends before the next group, and within the section, whatever the table of the groups
  // holds.
  struct Group {
    std::uint64_t begin = 0;       // its first bit
    std::uint64_t domains = 0;     // in it
    std::uint64_t unary_bits = 0;  // the low bits begin after these
    bool is_possible = false;
  };

  // Whether a domain is among them. There must be a section.
  bool contains(DomainNumber number) const noexcept;
  // Prefetch the memory that contains() reads: first the table of the groups; then, once that is in the cache, the bits
  // of the group. The result is for contains(). So many look-ups at once need not wait for memory.
  void prefetch(DomainNumber number) const noexcept;
  Group prefetch_group(DomainNumber number) const noexcept;
  bool contains(DomainNumber number, const Group& group) const noexcept;

  // Appends the domains of a group in ascending order. Returns false if the group violates the format. The appended
  // numbers then mean nothing, but each of them is a number for contains().
  bool decode_group(std::uint64_t group, std::vector<DomainNumber>& out) const;

  // Whether these groups follow the format: the numbers of domains fit, no bucket has more than it may, and all domains
  // ascend. If the last group is among them, also whether the bits that fill the last word are zero.
  bool groups_are_sound(std::uint64_t first, std::uint64_t end) const;

 private:
  std::uint64_t word_of_groups(std::uint64_t word) const noexcept;
  std::uint64_t word_of_table(std::uint64_t group) const noexcept;
  std::uint64_t bits_at(std::uint64_t bit) const noexcept;
  std::uint64_t low_bits_at(const Group& group, std::uint64_t domain) const noexcept;
  Group group_at(std::uint64_t group) const noexcept;

  std::span<const std::byte> bytes_ = {};
  DomainCoding coding_ = DomainCoding(0);
};

}  // namespace bloomgate
