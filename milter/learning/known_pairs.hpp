// The pairs that are learned, in memory: an exact set of 64-bit hashes, each with the day of its last use. The hashes
// are keyed with a seed of this process, so nobody outside can find two pairs of one hash; by chance, one look-up in
// 1.8 * 10^12 finds a stranger among 10^7 pairs.
//
// Safe from any thread. It is cut into parts with a lock each; a part is locked for some nanoseconds, and where it
// grows for half a millisecond at most (10^7 pairs). 15 bytes a pair at most.
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

  // Enters the pair, or brings its day forward. Throws std::bad_alloc.
  void put(std::string_view user, std::string_view correspondent, Day day);

  // Takes out those last used before `day`. Throws std::bad_alloc; those of some parts are then still there.
  void expire(Day day);

  std::size_t size() const noexcept;
  std::size_t bytes() const noexcept;  // of memory

 private:
  static constexpr std::size_t kParts = 256;

  class Part;

  KeyHash hash_of(std::string_view user, std::string_view correspondent) const noexcept;
  Part& part_of(KeyHash hash) const noexcept;

  const std::uint64_t seed_;
  const std::unique_ptr<std::array<Part, kParts>> parts_;
};

}  // namespace bloomgate
