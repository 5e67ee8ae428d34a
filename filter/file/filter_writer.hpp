// Writes a filter file so that its path always holds either the old file or the whole new one: into a
// temporary file in the same folder, synced, then renamed over the path, then the folder is synced.
//
// If a writer is killed, the next one for the same path removes its temporary file: such a file is locked (flock(2)) as
// long as its writer lives.
//
// The body goes past the page cache if the file system can do that, so that it is read back from the disk itself.
//
// Used by the builder. Call order: constructor, write_body* (every byte of the body once, in any order), commit.
// Destroyed without commit, it leaves nothing behind. Several threads may call write_body at once, but nothing else.
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
  // Creates the temporary file with all its space reserved, so that a full disk shows now and not after the work. If
  // `path` exists, it must be a regular file (or a link to one, which stays a link); the new file gets its permissions.
  // Throws BloomgateError{cannot_write, not_a_regular_file}.
  FilterWriter(const std::string& path, const FilterShape& shape);
  ~FilterWriter();
  FilterWriter(const FilterWriter&) = delete;
  FilterWriter& operator=(const FilterWriter&) = delete;

  // Writes part of the body and notes its checksums. `offset` counts from the start of the body and must be a
  // multiple of kChecksumChunkBytes; `bytes` must end at such a multiple or at the body's end. Throws
  // BloomgateError{cannot_write}.
  void write_body(std::uint64_t offset, std::span<const std::byte> bytes);

  // Completes the file, reads it back and checks it with `threads` threads, and puts it at its path, durably.
  // `header.shape` may differ from the constructor's only in the has_* flags; `table_checksum` is filled in here.
  // Throws BloomgateError{cannot_write, cannot_read}, and {bad_body_checksum} if the file is not what was written.
  void commit(FilterHeader header, unsigned threads = 1);

 private:
  void read_back(std::span<const std::byte> header, unsigned threads) const;

  std::string path_;
  std::string folder_;
  std::string temporary_path_;
  FileDescriptor file_;
  DirectFile direct_;
  FileExtent extent_;
  std::vector<std::byte> table_;
};

}  // namespace bloomgate
