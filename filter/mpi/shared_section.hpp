// A section of a new file, of which each rank makes some chunks. A rank that sees rank 0's temporary file, on a file
// system that their machines share, writes its chunks there and reads them back (file_part.hpp). Any other rank sends
// them to rank 0, which writes them. Rank 0 puts the file in place.
//
// A rank that fails meanwhile tells rank 0, which removes its temporary files before it ends the job.
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

// Thrown by rank 0 where another rank has failed, and has said why. Its exit status is that of the job.
struct RankFailure {
  int status;
};

struct ChunkRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

class SharedSection {
 public:
  // Collective. `file` is rank 0's, and null elsewhere. The section begins at `offset` of it; this rank makes `own`.
  // With `only_first_writes` all send theirs to rank 0. Throws what NewFile::mark() throws.
  SharedSection(const Communicator& communicator, NewFile* file, SectionKind kind, std::uint64_t offset, ChunkRange own,
                bool only_first_writes);

  // A chunk of this rank; each once. Several threads may call it at once. Throws BloomgateError{cannot_write}.
  void write(std::uint64_t chunk, std::span<const std::byte> bytes);
  // This rank has written its own. In rank 0 it ends when all have. Throws as FilePart::finish() and NewFile::write(),
  // and RankFailure.
  void finish(unsigned threads);
  // Instead of finish(), in a rank that failed and has said why; not in rank 0. The job ends.
  [[noreturn]] void fail(int status) const;

  // How many ranks had chunks that rank 0 wrote for them. In rank 0, once finished.
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
