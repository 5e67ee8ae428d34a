// Writes a file of sections (sections.hpp) so that its path always holds either the old file or the whole new one: into
// a temporary file in the same folder, synced, then renamed over the path, then the folder is synced.
//
// If a writer is killed, the next one for the same path removes its temporary file: such a file is locked (flock(2)) as
// long as its writer lives.
//
// The sections go past the page cache if the file system can do that, so that they are read back from the disk itself:
// most of them while others are written, some MiB behind these, so that little is left to be read when the file is
// complete.
//
// Where several machines see one file system, other processes may write chunks of it, too (file_part.hpp).
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

// Where a staged file is.
std::string staged_path(const std::string& path);

// What was read back is not what was written. Throws BloomgateError{bad_body_checksum}.
[[noreturn]] void throw_not_as_written(const std::string& path, std::uint64_t offset);

// Called with the path just before its file is replaced, if there is one: keeping() of filter/keep/generations.hpp.
using KeepOld = std::function<void(const std::string& path)>;

class NewFile {
 public:
  // Makes the header of a file with those sections, which have their checksums.
  using EncodeHeader = std::function<void(const Sections&, std::span<std::byte, kHeaderBytes>)>;

  // Creates the temporary file with the space for these sections reserved, so that a full disk shows now and not after
  // the work. If `path` exists, it must be a regular file (or a link to one, which stays a link); the new file gets its
  // permissions. Throws BloomgateError{cannot_write, not_a_regular_file}.
  NewFile(const std::string& path, const Sections& sections);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Where the file will be: the path, or where its link leads to.
  const std::string& path() const noexcept { return path_; }

  // Writes part of a section and notes its checksums. `offset` counts from the start of the section and must be a
  // multiple of kChecksumChunkBytes; `bytes` must end at such a multiple or at the section's end. May read back what
  // was written before. Throws BloomgateError{cannot_write}, and as complete().
  void write(SectionKind kind, std::uint64_t offset, std::span<const std::byte> bytes);

  // For a FilePart elsewhere: where the file is meanwhile, and a number by which it is known, which it holds until
  // complete(). Throws BloomgateError{cannot_write, cannot_read}.
  const std::string& temporary_path() const noexcept { return temporary_path_; }
  std::uint64_t mark();
  // Chunks of a section, from `first_chunk` on, which a FilePart has written and read back: their checksums. Of these
  // complete() reads but the last one of the section again, which shares a page with what this process writes.
  void note_made(SectionKind kind, std::uint64_t first_chunk, std::span<const std::uint64_t> checksums);

  // Other sections behind those that are written, or an end of the last one of these.
  void place(const Sections& sections);

  // The section will be written anew from its front, as if nothing of it had been.
  void forget(SectionKind kind);

  // Completes the file with these sections, which were written, reads it back and checks it with `threads` threads. The
  // last section may be shorter than it was said to be. Throws BloomgateError{cannot_write, cannot_read}, and
  // {bad_body_checksum} if the file is not what was written.
  void complete(Sections sections, const EncodeHeader& encode, unsigned threads);

  // Signs the completed file, which is a filter: reads all of it once more with `threads` threads, and puts the
  // signature into its header. Throws BloomgateError{cannot_write, cannot_read, bad_body_checksum}.
  void sign(const SecretKey& key, unsigned threads);

  // Gives the completed file the name PATH.next, durably, so that it can be found before it is published: where another
  // file that goes with it is published in between. Throws BloomgateError{cannot_write}.
  void stage();

  // Puts the file at its path, durably. A staged file stays, whatever happens. Throws BloomgateError{cannot_write}, and
  // what `keep_old` throws.
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
  std::string temporary_path_;  // empty once it is published
  FileDescriptor file_;
  DirectFile direct_;
  std::vector<Part> parts_;  // in the order in which they lie
  std::mutex mutex_;         // for what comes now, and for `is_read_back`
  std::deque<Chunk> unread_;
  std::vector<AnonymousMemory> memory_;  // to read them into
};

}  // namespace bloomgate
