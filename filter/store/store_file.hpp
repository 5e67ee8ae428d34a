// A store, open for reading: reports whether a hash is in the exact set of a filter's entries, and reads all of them
// out.
//
// Used by the daemon, which confirms what a filter has found, and by `bloomgate`. A look-up reads exactly one page,
// with pread(2) and not through a mapping: so a disk error is an answer and not a signal, and the caller can let
// another thread read while it waits for a limited time. The index, 8 bytes for each page of 4 KiB, is kept in memory
// (9 MB for 10^9 addresses).
//
// After its constructor an object is immutable, and any number of threads may use it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/hash/hash.hpp"
#include "filter/store/store_format.hpp"
#include "filter/store/store_page.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {

// The answer of a store about a hash.
enum class StoreAnswer : std::uint8_t {
  absent,
  present,
  damaged,     // the page is not as it was written
  unreadable,  // the page cannot be read
  not_cached,  // the page is not in memory, and the caller does not wait for the disk
};

class StoreFile {
 public:
  // Opens `path`, with every check except those of the pages and of the domain entries: a regular file, magic, version,
  // header checksum, every field, exact size, the zeros between sections, the checksum of each table, the index. Never
  // blocks on a FIFO. Throws BloomgateError. Cost: reads the index.
  explicit StoreFile(const std::string& path);
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  const StoreHeader& header() const noexcept { return header_; }
  const Sections& sections() const noexcept { return sections_; }
  std::uint64_t identity() const noexcept { return identity_; }
  std::uint64_t file_bytes() const noexcept { return stamp_.size_bytes(); }
  const FileStamp& stamp() const noexcept { return stamp_; }  // as it was on opening
  int descriptor() const noexcept { return file_.get(); }

  // The hash of a key as this store keeps it.
  KeyHash hash_of(std::string_view key) const noexcept {
    return hash_key(key, header_.shape.seed, header_.shape.hash_family);
  }

  // The first hash of each page, in ascending order.
  std::span<const KeyHash> first_hashes() const noexcept { return index_; }

  // Whether the hash is among those of the addresses. Reads one page, and may wait for the disk.
  StoreAnswer find(KeyHash hash) const noexcept;

  // The same from the page cache; not_cached if the page is not there, or if the file system cannot tell.
  StoreAnswer find_cached(KeyHash hash) const noexcept;

  // Reads everything and checks it with `threads` threads: each section against its checksums, each page, the order of
  // all hashes, and their numbers. Throws BloomgateError{bad_body_checksum, bad_section, cannot_read,
  // changed_while_open}. `progress`, if given, is called with the bytes done, from one thread at a time.
  void verify(unsigned threads, const std::function<void(std::uint64_t)>& progress = {}) const;

  // Calls `use` with runs of the hashes of the addresses, of the domain entries, or of the domains of all addresses, in
  // ascending order. Throws what `use` throws, and BloomgateError{bad_body_checksum, bad_section, cannot_read}.
  void for_each_address(const std::function<void(std::span<const KeyHash>)>& use) const;
  void for_each_domain(const std::function<void(std::span<const KeyHash>)>& use) const {
    for_each_hash(SectionKind::stored_domains, use);
  }
  void for_each_sender_domain(const std::function<void(std::span<const KeyHash>)>& use) const {
    for_each_hash(SectionKind::stored_sender_domains, use);
  }

  // Appends the hashes of the addresses in the pages [first, end), in ascending order. Throws
  // BloomgateError{bad_section, cannot_read}. Each page has its own checksum, so that only these pages are read.
  void read_pages(std::uint64_t first, std::uint64_t end, std::vector<KeyHash>& out) const {
    std::vector<std::byte> memory;
    read_pages(first, end, out, memory);
  }
  // The same for many reads, one after the other, in `memory`.
  void read_pages(std::uint64_t first, std::uint64_t end, std::vector<KeyHash>& out,
                  std::vector<std::byte>& memory) const;
  // Asks the kernel to read these pages ahead, if they are not in memory yet.
  void will_read_pages(std::uint64_t first, std::uint64_t end) const noexcept;

  // Throws BloomgateError{bad_section} unless `found`, the number of addresses in all pages, is that of the header.
  void require_addresses(std::uint64_t found) const;

  // Whether the file has not been written to since it was opened, as far as FileStamp can tell. Cost: some 0.2 µs.
  bool is_unchanged() const noexcept { return FileStamp::of(file_.get()) == std::optional(stamp_); }

  // Throws BloomgateError{changed_while_open} if it has.
  void require_unchanged() const;

 private:
  std::uint64_t page_of(KeyHash hash) const noexcept;
  StoreAnswer find_in(std::span<const std::byte, kStorePageBytes> bytes, std::uint64_t page,
                      KeyHash hash) const noexcept;
  const Section& section(SectionKind kind) const noexcept;
  void read(std::span<std::byte> out, std::uint64_t offset) const;
  std::vector<std::byte> read_chunk(const Section& section, std::uint64_t chunk) const;
  void check_layout() const;
  void load_index();
  void for_each_hash(SectionKind kind, const std::function<void(std::span<const KeyHash>)>& use) const;
  void decode_pages(std::span<const std::byte> bytes, std::uint64_t first_page, std::vector<KeyHash>& out) const;
  std::uint64_t check_pages(std::uint64_t chunk) const;
  [[noreturn]] void throw_damaged(const Section& section, std::uint64_t chunk, const char* fault, ErrorCode code) const;

  std::string path_;
  FileStamp stamp_;  // declared before file_, since opening the file sets it
  FileDescriptor file_;
  StoreHeader header_;
  Sections sections_;
  std::uint64_t identity_ = 0;
  std::vector<KeyHash> index_;
};

// Opens the store with that identity. It is at `path`; or, if the writer of a pair was stopped between its two files,
// it is the staged one beside `path` (StoreWriter). Throws as StoreFile(), and BloomgateError{bad_input} if the store
// there belongs to another filter. `filter_path` is for the message.
std::unique_ptr<StoreFile> open_store(const std::string& path, std::uint64_t identity, const std::string& filter_path);

}  // namespace bloomgate
