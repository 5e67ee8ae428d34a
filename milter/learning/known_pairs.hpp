// The pairs that are learned, in memory: an exact set of 64-bit hashes, each with the day of its last use. The hashes
// are keyed with a seed of this process, so nobody outside can find two pairs of one hash; by chance, one look-up in
// 1.8 * 10^12 finds a stranger among 10^7 pairs.
//
// Safe from any thread. It is cut into parts with a lock each; a part is locked for some nanoseconds, and where it
// grows for half a millisecond at most (10^7 pairs). 15 bytes a pair at most, and as much for each domain of the
// correspondents.
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

class KnownPairs {
 public:
  // Days since 1970.
  using Day = std::uint16_t;

  explicit KnownPairs(std::uint64_t seed);
  ~KnownPairs();
  KnownPairs(const KnownPairs&) = delete;
  KnownPairs& operator=(const KnownPairs&) = delete;

  // The last day of use; nothing: the pair is not known.
  std::optional<Day> find(std::string_view user, std::string_view correspondent) const noexcept;

  // The last day of use of any pair with a correspondent in that canonical domain; nothing: there is none.
  std::optional<Day> find_domain(std::string_view domain) const noexcept;

  // Enters the pair, or brings its day forward. Throws std::bad_alloc.
  void put(std::string_view user, std::string_view correspondent, Day day);

  // Takes out those last used before `day`. Throws std::bad_alloc; those of some parts are then still there.
  void expire(Day day);

  std::size_t size() const noexcept;   // pairs
  std::size_t bytes() const noexcept;  // of memory

 private:
  static constexpr std::size_t kParts = 256;

  class Part;
  using Parts = std::array<Part, kParts>;

  KeyHash hash_of(std::string_view key) const noexcept;
  static Part& part_of(Parts& parts, KeyHash hash) noexcept;

  const std::uint64_t seed_;
  const std::unique_ptr<Parts> pairs_;
  const std::unique_ptr<Parts> domains_;  // of the correspondents
};

}  // namespace bloomgate
