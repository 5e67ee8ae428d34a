// Chunks of a section that a process other than the file's writer (new_file.hpp) makes. If several machines share a
// file system, each process writes its own chunks into the writer's temporary file, and reads them back. The writer
// gets their checksums, and publishes the file.
//
// Used by the ranks of bloomgate-mpi. Call order: constructor, write*, finish. Several threads may call write at once,
// but nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "filter/system/direct_file.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

class FilePart {
 public:
  // Opens the writer's temporary file if this machine sees it: `mark` is the result of NewFile::mark() there. The part
  // is `chunk_count` chunks of the section that begins at `section_offset` of the file, from `first_chunk` on.
  FilePart(const std::string& temporary_path, std::uint64_t mark, std::uint64_t section_offset,
           std::uint64_t first_chunk, std::uint64_t chunk_count);

  bool is_open() const noexcept { return file_.is_open(); }
  std::uint64_t first_chunk() const noexcept { return first_chunk_; }

  // Writes a chunk of the part; call it once for each. `chunk` is its number in the section; all chunks but the last of
  // a section are full. Throws BloomgateError{cannot_write}.
  void write(std::uint64_t chunk, std::span<const std::byte> bytes);

  // Syncs the chunks to disk, reads them back with `threads` threads, and closes the file. Returns the checksum of each
  // chunk. Throws BloomgateError{cannot_write, cannot_read}, and {bad_body_checksum} if the disk has other bytes.
  std::vector<std::uint64_t> finish(unsigned threads);

 private:
  struct Chunk {
    std::uint64_t checksum = 0;
    std::size_t bytes = 0;
  };

  std::uint64_t place_of(std::uint64_t chunk) const noexcept;
  void read_back(std::uint64_t chunk, std::span<std::byte> memory) const;

  std::string path_;
  std::uint64_t section_offset_;
  std::uint64_t first_chunk_;
  std::vector<Chunk> chunks_;
  FileDescriptor file_;
  DirectFile direct_;
};

}  // namespace bloomgate
