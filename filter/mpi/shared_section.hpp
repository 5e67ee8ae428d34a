// A section of a new file, of which each rank makes some chunks. If a rank sees rank 0's temporary file, on a file
// system that their machines share, it writes its chunks there and reads them back (file_part.hpp). Any other rank
// sends its chunks to rank 0, which writes them. Rank 0 publishes the file.
//
// A rank that fails meanwhile notifies rank 0, which removes its temporary files before it ends the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "filter/file/file_part.hpp"
#include "filter/file/new_file.hpp"
#include "filter/file/sections.hpp"
#include "filter/mpi/communicator.hpp"

namespace bloomgate::mpi {

// Thrown by rank 0 if another rank has failed, and has reported its error. Its exit status is that of the job.
struct RankFailure {
  int status;
};

struct ChunkRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

class SharedSection {
 public:
  // Collective. `file` is rank 0's, and null at the others. The section begins at its `offset`; this rank makes `own`.
  // With `only_first_writes` all ranks send their chunks to rank 0. Throws what NewFile::mark() throws.
  SharedSection(const Communicator& communicator, NewFile* file, SectionKind kind, std::uint64_t offset, ChunkRange own,
                bool only_first_writes);

  // Writes a chunk of this rank; call it once for each. Several threads may call it at once. Throws
  // BloomgateError{cannot_write}.
  void write(std::uint64_t chunk, std::span<const std::byte> bytes);
  // Call it when this rank has written its own chunks. At rank 0 it returns when all ranks have. Throws as
  // FilePart::finish() and NewFile::write(), and RankFailure.
  void finish(unsigned threads);
  // Instead of finish(), in a rank that failed and has reported its error; not in rank 0. Ends the job.
  [[noreturn]] void fail(int status) const;

  // The number of ranks whose chunks rank 0 has written. At rank 0, after finish().
  unsigned senders() const noexcept { return senders_; }

 private:
  void take_from(unsigned rank);

  const Communicator& communicator_;
  NewFile* file_;
  SectionKind kind_;
  std::optional<FilePart> part_;  // where this rank writes
  std::mutex mutex_;              // one thread at a time sends
  unsigned senders_ = 0;
};

}  // namespace bloomgate::mpi
