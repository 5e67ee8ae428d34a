// Learned pairs in memory: an exact set of 64-bit hashes, each with the day of its last use.
//
// PairTable holds hashes, however they are made. KnownPairs makes them, keyed with a seed of this process, so that an
// attacker cannot find two pairs with the same hash. By chance, one look-up in 1.8 * 10^12 of an unknown pair finds a
// hash among 10^7 pairs.
//
// Both are safe from any thread. The table is divided into parts with a lock each. A part is locked for some
// nanoseconds, and for at most half a millisecond when it grows (10^7 pairs). At most 15 bytes a pair, and as much for
// each domain of the correspondents.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "filter/hash/hash.hpp"

namespace bloomgate {

class PairTable {
 public:
  // Days since 1970.
  using Day = std::uint16_t;

  PairTable();
  ~PairTable();
  PairTable(const PairTable&) = delete;
  PairTable& operator=(const PairTable&) = delete;

  // The last day of use; nothing: the pair is unknown.
  std::optional<Day> find(KeyHash pair) const noexcept;
  // The last day of use of any pair with a correspondent in that domain; nothing: there is none.
  std::optional<Day> find_domain(KeyHash domain) const noexcept;

  // Adds the pair, or updates its day to a later one. Throws std::bad_alloc. `day` must not be 0, here and for a
  // domain.
  void put(KeyHash pair, Day day);
  void put_domain(KeyHash domain, Day day);
  // Removes the pair; its domain stays until expire().
  void remove(KeyHash pair) noexcept;

  // Removes entries that were last used before `day`. Throws std::bad_alloc; those of some parts then remain.
  void expire(Day day);

  std::size_t size() const noexcept;   // pairs
  std::size_t bytes() const noexcept;  // memory

 private:
  static constexpr std::size_t kParts = 256;

  class Part;
  using Parts = std::array<Part, kParts>;

  static Part& part_of(Parts& parts, KeyHash hash) noexcept;

  const std::unique_ptr<Parts> pairs_;
  const std::unique_ptr<Parts> domains_;  // of the correspondents
};

class KnownPairs {
 public:
  using Day = PairTable::Day;

  explicit KnownPairs(std::uint64_t seed) : seed_(seed) {}

  // As the functions of PairTable. All texts are canonical.
  std::optional<Day> find(std::string_view user, std::string_view correspondent) const noexcept;
  std::optional<Day> find_domain(std::string_view domain) const noexcept;
  void put(std::string_view user, std::string_view correspondent, Day day);
  void expire(Day day) { table_.expire(day); }
  std::size_t size() const noexcept { return table_.size(); }
  std::size_t bytes() const noexcept { return sizeof(*this) + table_.bytes(); }

 private:
  const std::uint64_t seed_;
  PairTable table_;
};

}  // namespace bloomgate
