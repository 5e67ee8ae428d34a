// Writes a filter file so that its path always holds either the old file or the whole new one: into a
// temporary file in the same folder, synced, then renamed over the path, then the folder is synced.
//
// If a writer is killed, the next one for the same path removes its temporary file: such a file is locked (flock(2)) as
// long as its writer lives.
//
// The sections go past the page cache if the file system can do that, so that they are read back from the disk itself.
//
// Used by the builder. Call order: constructor, write* (every byte of every section once, in any order), commit.
// Destroyed without commit, it leaves nothing behind. Several threads may call write at once, but nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "filter/base/direct_file.hpp"
#include "filter/base/file_descriptor.hpp"
#include "filter/file/file_format.hpp"

namespace bloomgate {

class FilterWriter {
 public:
  // Creates the temporary file with all its space reserved, so that a full disk shows now and not after the work.
  // `header` says how many domain entries there are at most. If `path` exists, it must be a regular file (or a link to
  // one, which stays a link); the new file gets its permissions. Throws BloomgateError{cannot_write,
  // not_a_regular_file, size_overflow}.
  FilterWriter(const std::string& path, const FilterHeader& header);
  ~FilterWriter();
  FilterWriter(const FilterWriter&) = delete;
  FilterWriter& operator=(const FilterWriter&) = delete;

  // Writes part of a section and notes its checksums. `offset` counts from the start of the section and must be a
  // multiple of kChecksumChunkBytes; `bytes` must end at such a multiple or at the section's end. Throws
  // BloomgateError{cannot_write}.
  void write(SectionKind kind, std::uint64_t offset, std::span<const std::byte> bytes);

  // Completes the file, reads it back and checks it with `threads` threads, and puts it at its path, durably. The shape
  // must be the constructor's; there may be fewer domain entries than it was told. With `kept` the file that it
  // replaces stays as generation 1, beside at most that many (generations.hpp). Throws BloomgateError{cannot_write,
  // cannot_read}, and {bad_body_checksum} if the file is not what was written.
  void commit(const FilterHeader& header, unsigned threads = 1, unsigned kept = 0);

 private:
  // A section and its checksums.
  struct Part {
    Section section;
    std::vector<std::byte> table;
  };

  void read_back(std::span<const std::byte> header, unsigned threads) const;
  void read_back_chunk(const Part& part, std::uint64_t chunk, std::span<std::byte> memory) const;
  void require_written(std::span<const std::byte> written, std::uint64_t offset) const;

  std::string path_;
  std::string folder_;
  std::string temporary_path_;
  FileDescriptor file_;
  DirectFile direct_;
  std::vector<Part> parts_;  // in the order in which they lie
};

}  // namespace bloomgate
