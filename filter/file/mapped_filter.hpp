// A filter file, mapped read-only into memory. Opened by the daemon (once per load) and by `bloomgate query`, `info`
// and `verify`.
//
// Opening costs a few system calls whatever the file's size; verify_body() reads all of it. Once made, an object is
// immutable, and any number of threads may use its view. The object must outlive every use of the view.
//
// For a file that shrinks or goes bad under the mapping, see bus_fault.hpp. With the handler installed, look-ups in the
// missing part find nothing, and state() says so. It also says when somebody has written to the file in place. No
// look-up after that may be trusted, since it reads the pages that were written.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "filter/base/public_key.hpp"
#include "filter/file/file_format.hpp"
#include "filter/layout/filter_view.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {

class MappedFilter {
 public:
  enum class State : std::uint8_t {
    whole,       // as far as is known
    unreadable,  // a look-up has met a part that is no longer there, or that the disk cannot read
    written_to,  // its size or the time of its last change has changed since it was opened
  };

  // Opens and maps `path`, with every check except those of what is in the sections: a regular file, magic, version,
  // header checksum, every field, exact size, the zeros between sections, the checksum of each table. Never blocks on a
  // FIFO. Throws BloomgateError.
  explicit MappedFilter(const std::string& path);
  ~MappedFilter();
  MappedFilter(const MappedFilter&) = delete;
  MappedFilter& operator=(const MappedFilter&) = delete;

  const std::string& path() const noexcept { return path_; }
  const FilterHeader& header() const noexcept { return header_; }
  const Sections& sections() const noexcept { return sections_; }
  const FilterView& view() const noexcept { return view_; }

  // As the header has it: nothing of it is checked.
  const std::optional<ClaimedSignature>& signature() const noexcept { return signature_; }

  // Of all sections together.
  std::uint64_t body_bytes() const noexcept;

  // A section's content in the mapping.
  std::span<const std::byte> bytes_of(const Section& section) const noexcept;

  // Checks all sections against their checksums with `threads` threads (0: one for each processor), which also brings
  // them into memory, and that the hashes of domain entries and of known strangers are in ascending order, and
  // the sender domains as the format has them. Throws
  // BloomgateError{bad_body_checksum, bad_section} with the offset of the first damaged MiB, or
  // changed_while_open if the file was written to since it was opened. `progress`, if given, is called now and then
  // with the bytes done, from one thread at a time.
  // With trusted keys the file must also be signed by one of them, which is seen in the same pass: a MiB takes some
  // 1 ms of one processor then. Throws BloomgateError{bad_signature} where it is not, before or after that pass.
  // With `patience_per_mib` the threads run only when a processor is idle, until so much time for each MiB of the file
  // is over (for_each_when_idle()).
  void verify_body(unsigned threads = 0, const std::function<void(std::uint64_t)>& progress = {},
                   std::span<const PublicKey> trusted = {},
                   std::optional<std::chrono::milliseconds> patience_per_mib = {}) const;

  // The part of that which takes no time: that the header, as it was on opening, is signed by one of these keys. Throws
  // BloomgateError{bad_signature}.
  void require_signer(std::span<const PublicKey> trusted) const;

  // The same for one piece of the sections at a time (each piece has its own checksum), for a check that runs beside
  // look-ups. False if the piece is not as it was written, or cannot be read. Cost: reading up to a MiB.
  std::uint64_t chunk_count() const noexcept;
  bool chunk_is_sound(std::uint64_t index) const noexcept;

  // Keeps the whole mapping in memory. Throws BloomgateError{out_of_memory} if RLIMIT_MEMLOCK is too small.
  void lock_in_memory() const;

  // Asked after a look-up, it covers that look-up, since a write changes the file's times before it changes its bytes.
  // Two gaps are left, see file_stamp.hpp: two writes within one tick, and times that were put back. Cost: one
  // fstat(2). If that fails, the file counts as unreadable.
  State state() const noexcept;
  bool damaged() const noexcept { return state() != State::whole; }
  void require_whole() const;  // throws BloomgateError{changed_while_open} if it is damaged

  // Throws BloomgateError{unsupported_layout}, with what to do, for a file that is kept to be changed: of the layout
  // counting. Mail is decided by a filter that is made from it, and so are filters compared and combined.
  void require_no_counters() const;

  // The descriptor of the mapped file, which `path` may no longer lead to; open as long as the object.
  int descriptor() const noexcept;
  const FileStamp& stamp() const noexcept;  // as of the opening

 private:
  class Mapping;
  struct Chunk;
  SortedHashes hashes_in(SectionKind kind) const noexcept;  // empty where there is no such section
  SenderDomains sender_domains() const noexcept;
  Chunk chunk_at(std::uint64_t index) const noexcept;
  bool is_in_order(const Chunk& chunk) const;

  std::string path_;
  std::unique_ptr<Mapping> mapping_;
  std::array<std::byte, kHeaderBytes> header_bytes_ = {};  // as they were decoded, whatever is in the file now
  FilterHeader header_;
  Sections sections_;
  std::optional<ClaimedSignature> signature_;
  FilterView view_;
};

// One number for what is in a filter file, to tell on which of several servers the same file is. It is the checksum
// of the header, which has the seed, all numbers, and the checksum of each section's checksums. So another content has
// another fingerprint, but for chance (2^-64) or intent. 16 hexadecimal digits.
std::string fingerprint_of(const MappedFilter& filter);

}  // namespace bloomgate
