// The bits that one rank makes: those of its range of the array (shared_array.hpp), set as FilterBuilder sets them,
// many hashes at a time and in several threads, each in a part of the range that stays in its cache. In the layout
// ribbon, whose blocks are made of all their entries at once, and with a store, the hashes are kept until finish(), in
// a temporary file when memory is full. For one thread.
//
// If there are excluded senders, they note their hits in this range, as FilterBuilder lets them do.
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
  // Allocates memory for the bits of the range, which may be empty, and `memory_bytes` for hashes. A temporary file is
  // made in `scratch_folder`. Throws BloomgateError{out_of_memory}.
  OwnBits(const FilterShape& shape, const SharedArray& array, unsigned rank, unsigned threads,
          std::uint64_t memory_bytes, std::string scratch_folder);
  ~OwnBits();

  // Call it before any hashes come. `strangers` must outlive this object, and be settled.
  void set_strangers(KnownStrangers& strangers) noexcept { strangers_ = &strangers; }

  // Call it before any hashes come. finish() passes the hashes of the rank's part of the store to `store`.
  void set_store(OwnStore& store) noexcept { store_ = &store; }

  // Adds hashes of this rank, in the form of a store. Throws BloomgateError{bad_argument} for other hashes,
  // {out_of_memory} and {cannot_write}.
  void take(std::span<const KeyHash> hashes);
  // Sets the bits of all added hashes. Then bytes() are those of the filter's file. Throws BloomgateError{cannot_read}
  // for the temporary file, and {cannot_write} for the store's.
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
  std::unique_ptr<HashSpill> spill_;         // if memory was ever full
  KnownStrangers* strangers_ = nullptr;
  OwnStore* store_ = nullptr;
};

}  // namespace bloomgate::mpi
