// A set of hashes, kept exactly: sorted 64-bit numbers in memory, in the form of a section of a filter file.
//
// A view: the bytes must outlive it. Look-ups are const, noexcept, allocate nothing and may run in any number of
// threads at once. For any bytes a look-up is safe; its answer is right only if they are sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "filter/hash/hash.hpp"

namespace bloomgate {

class SortedHashes {
 public:
  static constexpr std::size_t kHashBytes = sizeof(KeyHash);

  SortedHashes() = default;  // empty
  // Little-endian hashes, each greater than the one before it. Bytes after the last whole hash are ignored.
  explicit SortedHashes(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  std::uint64_t size() const noexcept { return bytes_.size() / kHashBytes; }
  bool empty() const noexcept { return size() == 0; }
  KeyHash operator[](std::uint64_t index) const noexcept;

  // Hashes are even over 2^64, so that the position of one follows from its value: interpolation search, some log log n
  // reads from memory (four among 10^8). At most 8 + 64 of them, whatever the bytes hold.
  bool contains(KeyHash hash) const noexcept;

  // Whether each is greater than the one before it. Reads all of them.
  bool is_strictly_ascending() const noexcept;

 private:
  std::span<const std::byte> bytes_ = {};
};

}  // namespace bloomgate
