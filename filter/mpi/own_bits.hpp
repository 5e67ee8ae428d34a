// The bits that one rank makes: those of its range of the array (shared_array.hpp), set as FilterBuilder sets them,
// many hashes at a time and in several threads, each in a part of the range that stays in its cache. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "filter/base/anonymous_memory.hpp"
#include "filter/build/hash_partitions.hpp"
#include "filter/layout/filter_shape.hpp"
#include "filter/mpi/shared_array.hpp"

namespace bloomgate::mpi {

class OwnBits {
 public:
  // Takes memory for the bits of the range, which may be none, and `memory_bytes` for hashes. Throws
  // BloomgateError{out_of_memory}.
  OwnBits(const FilterShape& shape, const SharedArray& array, unsigned rank, unsigned threads,
          std::uint64_t memory_bytes);

  // Hashes of this rank. Throws BloomgateError{bad_argument} for others, and {out_of_memory}.
  void take(std::span<const KeyHash> hashes);
  // Sets the bits of all that it has taken. Then bytes() are those of the filter's file.
  void finish();

  std::span<const std::byte> bytes() const noexcept { return memory_.bytes().first(bytes_); }

 private:
  void set_bits();

  FilterShape shape_;
  HashRange hashes_;
  std::uint64_t begin_;  // of the range, in the array
  std::uint64_t bytes_;
  unsigned threads_;
  AnonymousMemory memory_;
  HashPartitions partitions_;
};

}  // namespace bloomgate::mpi
