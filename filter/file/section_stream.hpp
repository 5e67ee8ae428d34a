// Writes hashes that come in ascending order into the section of a file that keeps them, a MiB at a time.
//
// Used by the builder and by combine_filters(), in one thread. Call order: constructor, add*, finish.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "filter/file/new_file.hpp"
#include "filter/hash/hash.hpp"

namespace bloomgate {

class SectionStream {
 public:
  // The file must outlive it.
  SectionStream(NewFile& file, SectionKind kind);

  // Adds hashes in ascending order, none less than those before. A hash that equals the one before it is dropped.
  // Throws BloomgateError{cannot_write}.
  void add(std::span<const KeyHash> hashes);

  // Writes the rest, and returns the number of hashes in the section. Throws as add().
  std::uint64_t finish();

 private:
  void write();

  NewFile& file_;
  SectionKind kind_;
  std::vector<std::byte> buffer_;  // up to a chunk
  std::uint64_t written_bytes_ = 0;
  std::uint64_t count_ = 0;
  KeyHash last_ = 0;
};

}  // namespace bloomgate
