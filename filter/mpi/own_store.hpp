// The part of a store that one rank makes: the whole MiB that begin in its range of sorted hashes. Where the pages
// begin depends on all hashes before, so the ranks cut one after the other: each continues where the one before it has
// stopped, with the hashes that were left there because they did not fill a MiB. That is quick. Then all ranks make
// their pages at once.
//
// Sorted hashes wait in a temporary file without a name, 8 bytes each. For one thread, in the order of the functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "filter/hash/hash.hpp"
#include "filter/store/store_cut.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate::mpi {

// Where a rank continues the cutting.
struct CutRest {
  std::uint64_t first_page = 0;
  std::vector<KeyHash> left = {};  // from the ranks before, in no chunk yet
};

class OwnStore {
 public:
  // Throws BloomgateError{cannot_write} for the temporary file.
  OwnStore(std::string scratch_folder, unsigned threads);

  // Hashes of this rank's range in strictly ascending order, greater than those before. Throws
  // BloomgateError{cannot_write}.
  void add(std::span<const KeyHash> hashes);

  // Call it when all hashes are there. Continues the cutting from `before`, and returns where the next rank continues;
  // with `is_last` nothing is left. Throws BloomgateError{cannot_read}.
  CutRest cut(CutRest before, unsigned low_bits, bool is_last);

  // The first hash of each page of this rank, and the number of hashes in these pages.
  const std::vector<KeyHash>& index() const noexcept { return cut_.index(); }
  std::uint64_t hashes() const noexcept { return cut_.hashes(); }
  std::uint64_t first_page() const noexcept { return begin_.first_page; }

  // Called with the bytes of chunks and the number of their first page, from several threads at once.
  using Write = std::function<void(std::uint64_t first_page, std::span<const std::byte> made)>;
  // Makes all chunks. Throws what `write` throws, and BloomgateError{cannot_read, out_of_memory}.
  void make(const Write& write);

 private:
  using TakeChunks = std::function<void(const StoreCut& cut, std::span<const StoreChunk> chunks)>;

  std::vector<KeyHash> cut_all(StoreCut& cut, const TakeChunks& take) const;

  std::string scratch_folder_;
  unsigned threads_;
  FileDescriptor file_;
  std::uint64_t kept_hashes_ = 0;  // in the file
  CutRest begin_;
  unsigned low_bits_ = 0;
  bool is_last_ = false;
  StoreCut cut_;
};

}  // namespace bloomgate::mpi
