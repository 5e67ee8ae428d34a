// Writes a filter file so that its path always holds either the old file or the whole new one (new_file.hpp).
//
// Used by the builder. Call order: constructor, write* (every byte of every section once, in any order), commit.
// Destroyed without commit, it leaves nothing behind. Several threads may call write at once, but nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "filter/file/file_format.hpp"
#include "filter/file/new_file.hpp"

namespace bloomgate {

class FilterWriter {
 public:
  // `header` has the largest number of domain entries that there can be, and no counts of excluded senders. Throws as
  // NewFile does.
  FilterWriter(const std::string& path, const FilterHeader& header) : file_(path, sections_of(header)) {}

  // See NewFile::write().
  void write(SectionKind kind, std::uint64_t offset, std::span<const std::byte> bytes) {
    file_.write(kind, offset, bytes);
  }

  // Moves the sections to where that header has them. Bytes that were written must keep their offsets.
  void place(const FilterHeader& header) { file_.place(sections_of(header)); }

  // See NewFile::forget().
  void forget(SectionKind kind) { file_.forget(kind); }

  // For a SectionStream.
  NewFile& file() noexcept { return file_; }

  // Completes the file, reads it back and checks it with `threads` threads, and puts it at its path, durably. The shape
  // must be the constructor's; the domain entries may be fewer than the constructor was told. With a key, the file is
  // signed before it gets its name. Throws BloomgateError{cannot_write, cannot_read}, {bad_body_checksum} if the file
  // is not what was written, and what `keep_old` throws.
  void commit(const FilterHeader& header, unsigned threads = 1, const KeepOld& keep_old = {},
              const SecretKey* key = nullptr) {
    const auto encode = [&](const Sections& sections, std::span<std::byte, kHeaderBytes> out) {
      encode_header(header, sections, out);
    };
    file_.complete(sections_of(header), encode, threads);
    if (key != nullptr) file_.sign(*key, threads);
    file_.publish(keep_old);
  }

 private:
  NewFile file_;
};

}  // namespace bloomgate
