// The bits that one rank makes: those of its range of the array (shared_array.hpp), set as FilterBuilder sets them,
// many hashes at a time and in several threads, each in a part of the range that stays in its cache. In the layout
// ribbon, where a block is made of all its entries at once, and where there is a store, the hashes are kept until
// finish(), in a temporary file where memory is full. For one thread.
//
// Known strangers, if there are any, note of what they have in this range what FilterBuilder lets them note.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "filter/engine/block_maker.hpp"
#include "filter/engine/known_strangers.hpp"
#include "filter/gather/hash_partitions.hpp"
#include "filter/gather/hash_spill.hpp"
#include "filter/layout/layout.hpp"
#include "filter/mpi/own_store.hpp"
#include "filter/mpi/shared_array.hpp"
#include "filter/system/anonymous_memory.hpp"

namespace bloomgate::mpi {

class OwnBits {
 public:
  // Takes memory for the bits of the range, which may be none, and `memory_bytes` for hashes. A temporary file is in
  // `scratch_folder`. Throws BloomgateError{out_of_memory}.
  OwnBits(const FilterShape& shape, const SharedArray& array, unsigned rank, unsigned threads,
          std::uint64_t memory_bytes, std::string scratch_folder);
  ~OwnBits();

  // Before any hashes. `strangers` have to outlive this, and to be settled.
  void set_strangers(KnownStrangers& strangers) noexcept { strangers_ = &strangers; }

  // Before any hashes. finish() gives `store` those of the rank's part of it.
  void set_store(OwnStore& store) noexcept { store_ = &store; }

  // Hashes of this rank, as a store keeps them. Throws BloomgateError{bad_argument} for others, {out_of_memory} and
  // {cannot_write}.
  void take(std::span<const KeyHash> hashes);
  // Sets the bits of all that it has taken. Then bytes() are those of the filter's file. Throws
  // BloomgateError{cannot_read} for the temporary file, and {cannot_write} for the store's.
  void finish();

  std::span<const std::byte> bytes() const noexcept { return memory_.bytes().first(bytes_); }

 private:
  template <typename Visit>
  void for_each_run(std::size_t partition, Visit visit) const;
  template <typename Visit>
  void for_each_own_run(std::size_t partition, Visit visit) const;
  void make_room();
  void make_bits(std::size_t first, std::size_t end);
  BodyPart part() const noexcept { return {memory_.bytes().data(), begin_}; }

  FilterShape shape_;
  HashRange hashes_;         // those of the bits
  HashRange stored_hashes_;  // those of the store
  std::uint64_t begin_;      // of the range, in the array
  std::uint64_t bytes_;
  unsigned threads_;
  AnonymousMemory memory_;
  HashPartitions partitions_;
  std::string scratch_folder_;
  std::unique_ptr<BlockMaker> block_maker_;  // in layouts that need whole blocks
  std::unique_ptr<HashSpill> spill_;         // there, once memory was full
  KnownStrangers* strangers_ = nullptr;
  OwnStore* store_ = nullptr;
};

}  // namespace bloomgate::mpi
