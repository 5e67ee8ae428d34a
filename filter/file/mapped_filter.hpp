// A filter file, mapped read-only into memory. Opened by the daemon (once per load) and by `bloomgate query`, `info`
// and `verify`.
//
// Opening costs a few system calls, whatever the file's size; verify_body() reads all of it. After its constructor an
// object is immutable, and any number of threads may use its view. The object must outlive every use of the view.
//
// If a file shrinks or becomes unreadable under the mapping, see bus_fault.hpp. With the handler installed, look-ups in
// the missing part find nothing, and state() reports it. state() also reports that a process has written to the file in
// place. Do not trust any look-up after that, since it reads the pages that were written.
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
    unreadable,  // a look-up has met a part that is gone, or that the disk cannot read
    written_to,  // its size or modification time has changed since it was opened
  };

  // Opens and maps `path`, and makes every check but those of the sections' contents: a regular file, magic, version,
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

  // As the header has it: nothing of it is verified.
  const std::optional<ClaimedSignature>& signature() const noexcept { return signature_; }

  // The size of all sections together.
  std::uint64_t body_bytes() const noexcept;

  // A section's content in the mapping.
  std::span<const std::byte> bytes_of(const Section& section) const noexcept;

  // Checks all sections against their checksums with `threads` threads (0: one for each processor), which also brings
  // them into memory. Checks that the hashes of domain entries and of excluded senders are in ascending order, and that
  // the sender domains follow the format. Throws BloomgateError{bad_body_checksum, bad_section} with the offset of the
  // first damaged MiB, or changed_while_open if the file was written to since it was opened. Calls `progress`, if
  // given, from time to time with the bytes done, from one thread at a time.
  // With trusted keys, one of them must also have signed the file. The same pass checks that, and a MiB then takes some
  // 1 ms of one processor. Throws BloomgateError{bad_signature} if none has, before or after that pass.
  // With `patience_per_mib` the threads run only when a processor is idle, until so much time for each MiB of the file
  // is over (for_each_when_idle()).
  void verify_body(unsigned threads = 0, const std::function<void(std::uint64_t)>& progress = {},
                   std::span<const PublicKey> trusted = {},
                   std::optional<std::chrono::milliseconds> patience_per_mib = {}) const;

  // The part of that which takes no time: checks that one of these keys has signed the header, as it was on opening.
  // Throws BloomgateError{bad_signature}.
  void require_signer(std::span<const PublicKey> trusted) const;

  // The same check for one piece of the sections at a time (each piece has its own checksum), so that it can run beside
  // look-ups. False if the piece is not as it was written, or cannot be read. Cost: reading up to a MiB.
  std::uint64_t chunk_count() const noexcept;
  bool chunk_is_sound(std::uint64_t index) const noexcept;

  // Keeps the whole mapping in memory. Throws BloomgateError{out_of_memory} if RLIMIT_MEMLOCK is too small.
  void lock_in_memory() const;

  // Call it after a look-up: the answer then covers that look-up, since a write changes the file's times before its
  // bytes. file_stamp.hpp describes two gaps: two writes within one tick, and times that were put back. Cost: one
  // fstat(2). If that fails, the file counts as unreadable.
  State state() const noexcept;
  bool damaged() const noexcept { return state() != State::whole; }
  void require_whole() const;  // throws BloomgateError{changed_while_open} if it is damaged

  // Throws BloomgateError{unsupported_layout}, with what to do, for a filter of the layout counting, which is kept to
  // be changed. To decide mail, or to compare and combine filters, make a filter from it.
  void require_no_counters() const;

  // The descriptor of the mapped file, which `path` may no longer name; open as long as the object lives.
  int descriptor() const noexcept;
  const FileStamp& stamp() const noexcept;  // as it was on opening

 private:
  class Mapping;
  struct Chunk;
  SortedHashes hashes_in(SectionKind kind) const noexcept;  // empty if there is no such section
  SenderDomains sender_domains() const noexcept;
  Chunk chunk_at(std::uint64_t index) const noexcept;
  bool is_in_order(const Chunk& chunk) const;

  std::string path_;
  std::unique_ptr<Mapping> mapping_;
  std::array<std::byte, kHeaderBytes> header_bytes_ = {};  // as they were decoded, whatever the file has now
  FilterHeader header_;
  Sections sections_;
  std::optional<ClaimedSignature> signature_;
  FilterView view_;
};

// One number for the content of a filter file, which shows on which of several servers the same file is. It is the
// checksum of the header, which has the seed, all counts, and the checksum of each section's checksums. So another
// content has another fingerprint, except by chance (2^-64) or on purpose. 16 hexadecimal digits.
std::string fingerprint_of(const MappedFilter& filter);

}  // namespace bloomgate
