// Writes a file of sections (sections.hpp) so that its path always holds either the old file or the whole new one: into
// a temporary file in the same folder, synced, then renamed over the path, then the folder is synced.
//
// If a writer is killed, the next writer for the same path removes its temporary file. A temporary file is locked
// (flock(2)) as long as its writer lives.
//
// The sections bypass the page cache if the file system allows it, so that they are read back from the disk itself.
// Most of them are read back while others are written, some MiB behind the writing, so that little is left to read when
// the file is complete.
//
// If several machines share a file system, other processes may write chunks of the file, too (file_part.hpp).
//
// Used by FilterWriter and StoreWriter. Call order: constructor, mark?, (write | note_made | place)*, complete, sign?,
// stage?, publish.
// Destroyed before publish, it leaves nothing behind. Several threads may call write at once, but nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "filter/file/file_format.hpp"
#include "filter/file/secret_key.hpp"
#include "filter/system/anonymous_memory.hpp"
#include "filter/system/direct_file.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// The path of a staged file.
std::string staged_path(const std::string& path);

// Throws BloomgateError{bad_body_checksum}: what was read back is not what was written.
[[noreturn]] void throw_not_as_written(const std::string& path, std::uint64_t offset);

// Called with the path just before its file is replaced, if there is one: keeping() of filter/keep/generations.hpp.
using KeepOld = std::function<void(const std::string& path)>;

class NewFile {
 public:
  // Makes the header of a file with these sections, which include their checksums.
  using EncodeHeader = std::function<void(const Sections&, std::span<std::byte, kHeaderBytes>)>;

  // Creates the temporary file and reserves the space for these sections, so that a full disk shows now and not after
  // the work. If `path` exists, it must be a regular file (or a link to one, which stays a link); the new file gets its
  // permissions. Throws BloomgateError{cannot_write, not_a_regular_file}.
  NewFile(const std::string& path, const Sections& sections);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Where the file will be: the path, or the target of the link at the path.
  const std::string& path() const noexcept { return path_; }

  // Writes part of a section and notes its checksums. `offset` counts from the start of the section and must be a
  // multiple of kChecksumChunkBytes; `bytes` must end at such a multiple or at the section's end. May read back chunks
  // that were written before. Throws BloomgateError{cannot_write}, and as complete().
  void write(SectionKind kind, std::uint64_t offset, std::span<const std::byte> bytes);

  // For a FilePart in another process: the file's temporary path, and a number that identifies the file, which the file
  // holds until complete(). Throws BloomgateError{cannot_write, cannot_read}.
  const std::string& temporary_path() const noexcept { return temporary_path_; }
  std::uint64_t mark();
  // Notes the checksums of chunks of a section, from `first_chunk` on, which a FilePart has written and read back. Of
  // these complete() reads again only the last chunk of the section, which shares a page with bytes of this process.
  void note_made(SectionKind kind, std::uint64_t first_chunk, std::span<const std::uint64_t> checksums);

  // Changes the sections after those that are written, or the end of the last written section.
  void place(const Sections& sections);

  // Call it before the section is written anew from its front: it forgets what was written of it.
  void forget(SectionKind kind);

  // Completes the file with these sections, all of which were written, reads it back and checks it with `threads`
  // threads. The last section may be shorter than announced. Throws BloomgateError{cannot_write, cannot_read}, and
  // {bad_body_checksum} if the file is not what was written.
  void complete(Sections sections, const EncodeHeader& encode, unsigned threads);

  // Signs the completed file, which is a filter: reads all of it once more with `threads` threads, and puts the
  // signature into its header. Throws BloomgateError{cannot_write, cannot_read, bad_body_checksum}.
  void sign(const SecretKey& key, unsigned threads);

  // Gives the completed file the name PATH.next, durably, so that it can be found before it is published: in between,
  // the caller may publish another file that belongs to it. Throws BloomgateError{cannot_write}.
  void stage();

  // Puts the file at its path, durably. A staged file is never removed. Throws BloomgateError{cannot_write}, and what
  // `keep_old` throws.
  void publish(const KeepOld& keep_old = {});

 private:
  // A section and its checksums.
  struct Part {
    Section section;
    std::vector<std::byte> table;
    std::vector<std::uint8_t> is_read_back;  // for each chunk
  };

  struct Chunk {
    std::size_t part = 0;
    std::uint64_t index = 0;
  };

  Part& part_of(SectionKind kind);
  std::uint64_t file_bytes() const noexcept;
  Digest digest_of_content(unsigned threads) const;
  void read_back(std::span<const std::byte> header, unsigned threads) const;
  void read_back_behind(std::size_t part, std::uint64_t first_chunk, std::uint64_t chunks);
  void read_back_chunk(const Part& part, std::uint64_t chunk, std::span<std::byte> memory) const;
  void require_written(std::span<const std::byte> written, std::uint64_t offset) const;

  std::string path_;
  std::string folder_;
  std::string temporary_path_;  // empty once the file is published
  FileDescriptor file_;
  DirectFile direct_;
  std::vector<Part> parts_;  // in the order of the file
  std::mutex mutex_;         // for the members below, and for `is_read_back`
  std::deque<Chunk> unread_;
  std::vector<AnonymousMemory> memory_;  // to read chunks into
};

}  // namespace bloomgate
