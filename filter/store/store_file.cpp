#include "filter/store/store_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/base/parallel.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/new_file.hpp"
#include "filter/file/output_check.hpp"
#include "filter/layout/sorted_hashes.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

using PageMemory = std::array<std::byte, kStorePageBytes>;

FileDescriptor open_regular(const std::string& path, FileStamp& stamp) {
  struct stat status = {};
  FileDescriptor file = open_regular_file(path, "a store", status);
  stamp = FileStamp(status);
  return file;
}

}  // namespace

StoreFile::StoreFile(const std::string& path) : path_(path), file_(open_regular(path, stamp_)) {
  const std::uint64_t file_bytes = stamp_.size_bytes();
  if (file_bytes < kHeaderBytes) {
    Magic start = {};
    const std::span<std::byte> there = room_for_start(start, file_bytes);
    read(there, 0);
    throw too_short_error(there, kStoreMagic, path, file_bytes);
  }
  std::array<std::byte, kHeaderBytes> bytes;
  read(bytes, 0);
  DecodedStoreHeader decoded = decode_store_header(bytes, path);
  header_ = decoded.header;
  sections_ = std::move(decoded.sections);
  identity_ = decoded.identity;
  check_layout();
  load_index();
}

void StoreFile::read(std::span<std::byte> out, std::uint64_t offset) const {
  if (const int error = read_at(file_.get(), out, offset); error != 0) {
    throw system_error(ErrorCode::cannot_read, "read", path_, error);
  }
}

// Checks the size, the bytes between sections, and the tables.
void StoreFile::check_layout() const {
  const std::uint64_t expected = sections_.empty() ? kHeaderBytes : sections_.back().end();
  if (stamp_.size_bytes() != expected) {
    throw BloomgateError(ErrorCode::wrong_size,
                         path_ + " has " + std::to_string(stamp_.size_bytes()) + " bytes instead of the " +
                             std::to_string(expected) + " that its header asks for; copy or build the store again",
                         {path_, std::min(stamp_.size_bytes(), expected), std::to_string(expected),
                          std::to_string(stamp_.size_bytes())});
  }
  std::uint64_t end = kHeaderBytes;
  for (const Section& section : sections_) {
    std::vector<std::byte> padding(section.offset - end);
    read(padding, end);
    if (!std::ranges::all_of(padding, [](std::byte b) { return b == std::byte{0}; })) {
      throw BloomgateError(ErrorCode::bad_section,
                           path_ + ": there is a byte between offset " + std::to_string(end) + " and " +
                               std::to_string(section.offset) +
                               ", between two sections, that is not zero; copy or build the store again",
                           {.path = path_, .offset = end});
    }
    std::vector<std::byte> table(section.table_bytes());
    read(table, section.table_offset());
    if (checksum(table) != section.table_checksum) {
      throw BloomgateError(ErrorCode::bad_table_checksum,
                           path_ + ": the checksum table at offset " + std::to_string(section.table_offset()) +
                               " is damaged; copy or build the store again",
                           {.path = path_, .offset = section.table_offset()});
    }
    end = section.end();
  }
}

const Section& StoreFile::section(SectionKind kind) const noexcept {
  return *find_section(sections_, kind);
}

void StoreFile::throw_damaged(const Section& section, std::uint64_t chunk, const char* fault, ErrorCode code) const {
  const std::uint64_t offset = section.offset + chunk * kChecksumChunkBytes;
  throw BloomgateError(code,
                       path_ + ": the section " + std::string(section_name(section.kind)) + " is " + fault +
                           " in the MiB at offset " + std::to_string(offset) + "; copy or build the store again",
                       {.path = path_, .offset = offset});
}

// A MiB of a section, checked against its checksum.
std::vector<std::byte> StoreFile::read_chunk(const Section& section, std::uint64_t chunk) const {
  const std::uint64_t begin = chunk * kChecksumChunkBytes;
  std::vector<std::byte> bytes(std::min(kChecksumChunkBytes, section.bytes - begin));
  read(bytes, section.offset + begin);
  std::array<std::byte, sizeof(std::uint64_t)> noted;
  read(noted, section.table_offset() + chunk * sizeof(std::uint64_t));
  if (checksum(bytes) != load_little_endian<std::uint64_t>(noted.data())) {
    throw_damaged(section, chunk, "damaged", ErrorCode::bad_body_checksum);
  }
  return bytes;
}

void StoreFile::load_index() {
  if (header_.pages == 0) return;
  const Section& index = section(SectionKind::index);
  index_.reserve(header_.pages);
  for (std::uint64_t chunk = 0; chunk < index.chunk_count(); ++chunk) {
    const std::vector<std::byte> bytes = read_chunk(index, chunk);
    for (std::size_t at = 0; at < bytes.size(); at += SortedHashes::kHashBytes) {
      const auto first = load_little_endian<KeyHash>(bytes.data() + at);
      if (!index_.empty() && first <= index_.back()) {
        throw_damaged(index, chunk, "not in ascending order", ErrorCode::bad_section);
      }
      index_.push_back(first);
    }
  }
}

// The only page that may have the hash; the number of pages if no page may.
std::uint64_t StoreFile::page_of(KeyHash hash) const noexcept {
  const auto after = std::ranges::upper_bound(index_, hash);
  return after == index_.begin() ? index_.size() : static_cast<std::uint64_t>(after - index_.begin()) - 1;
}

StoreAnswer StoreFile::find_in(std::span<const std::byte, kStorePageBytes> bytes, std::uint64_t page,
                               KeyHash hash) const noexcept {
  if (!store_page_is_sound(bytes, page)) return StoreAnswer::damaged;
  return store_page_contains(bytes, header_.low_bits, hash) ? StoreAnswer::present : StoreAnswer::absent;
}

StoreAnswer StoreFile::find(KeyHash hash) const noexcept {
  const std::uint64_t page = page_of(hash);
  if (page == index_.size()) return StoreAnswer::absent;
  PageMemory memory;
  const int error = read_at(file_.get(), memory, sections_.front().offset + page * kStorePageBytes);
  return error == 0 ? find_in(memory, page, hash) : StoreAnswer::unreadable;
}

StoreAnswer StoreFile::find_cached(KeyHash hash) const noexcept {
  const std::uint64_t page = page_of(hash);
  if (page == index_.size()) return StoreAnswer::absent;
  PageMemory memory;
  const iovec into = {memory.data(), memory.size()};
  const std::uint64_t offset = sections_.front().offset + page * kStorePageBytes;
  const ssize_t count = preadv2(file_.get(), &into, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  return count == static_cast<ssize_t>(memory.size()) ? find_in(memory, page, hash) : StoreAnswer::not_cached;
}

void StoreFile::decode_pages(std::span<const std::byte> bytes, std::uint64_t first_page,
                             std::vector<KeyHash>& out) const {
  for (std::size_t at = 0; at < bytes.size(); at += kStorePageBytes) {
    const std::uint64_t page = first_page + at / kStorePageBytes;
    const auto of_page = bytes.subspan(at).first<kStorePageBytes>();
    const std::size_t before = out.size();
    // A page's hashes start with the hash in the index, and stay below that of the next page: so all pages together
    // ascend.
    const bool is_good = store_page_is_sound(of_page, page) && decode_store_page(of_page, header_.low_bits, out) &&
                         out[before] == index_[page] && (page + 1 == index_.size() || out.back() < index_[page + 1]);
    if (!is_good) {
      throw_damaged(section(SectionKind::pages), page / kStorePagesInChunk, "not as the format has it",
                    ErrorCode::bad_section);
    }
  }
}

void StoreFile::read_pages(std::uint64_t first, std::uint64_t end, std::vector<KeyHash>& out,
                           std::vector<std::byte>& memory) const {
  memory.resize((end - first) * kStorePageBytes);
  read(memory, section(SectionKind::pages).offset + first * kStorePageBytes);
  decode_pages(memory, first, out);
}

void StoreFile::will_read_pages(std::uint64_t first, std::uint64_t end) const noexcept {
  if (first >= end) return;
  posix_fadvise(file_.get(), static_cast<off_t>(section(SectionKind::pages).offset + first * kStorePageBytes),
                static_cast<off_t>((end - first) * kStorePageBytes), POSIX_FADV_WILLNEED);
}

void StoreFile::require_addresses(std::uint64_t found) const {
  if (found == header_.addresses) return;
  throw BloomgateError(ErrorCode::bad_section,
                       path_ + " holds " + std::to_string(found) + " addresses, but its header says " +
                           std::to_string(header_.addresses) + "; copy or build the store again",
                       {path_, std::nullopt, std::to_string(header_.addresses), std::to_string(found)});
}

// Returns the number of hashes.
std::uint64_t StoreFile::check_pages(std::uint64_t chunk) const {
  std::vector<KeyHash> hashes;
  decode_pages(read_chunk(section(SectionKind::pages), chunk), chunk * kStorePagesInChunk, hashes);
  return hashes.size();
}

void StoreFile::verify(unsigned threads, const std::function<void(std::uint64_t)>& progress) const {
  if (header_.pages != 0) {
    const Section& pages = section(SectionKind::pages);
    std::mutex mutex;
    std::uint64_t addresses = 0;
    std::uint64_t done_bytes = 0;
    for_each_parallel(threads, pages.chunk_count(), [&](std::size_t chunk) {
      const std::uint64_t found = check_pages(chunk);
      const std::lock_guard lock(mutex);
      addresses += found;
      done_bytes += kChecksumChunkBytes;
      if (progress) progress(std::min(done_bytes, pages.bytes));
    });
    require_addresses(addresses);
  }
  for_each_domain([](std::span<const KeyHash>) {});
  for_each_sender_domain([](std::span<const KeyHash>) {});
  require_unchanged();
}

void StoreFile::for_each_address(const std::function<void(std::span<const KeyHash>)>& use) const {
  if (header_.pages == 0) return;
  const Section& pages = section(SectionKind::pages);
  posix_fadvise(file_.get(), static_cast<off_t>(pages.offset), static_cast<off_t>(pages.bytes), POSIX_FADV_SEQUENTIAL);
  std::vector<KeyHash> hashes;
  for (std::uint64_t chunk = 0; chunk < pages.chunk_count(); ++chunk) {
    hashes.clear();
    decode_pages(read_chunk(pages, chunk), chunk * kStorePagesInChunk, hashes);
    use(hashes);
  }
}

void StoreFile::for_each_hash(SectionKind kind, const std::function<void(std::span<const KeyHash>)>& use) const {
  if (find_section(sections_, kind) == nullptr) return;
  const Section& domains = section(kind);
  std::vector<KeyHash> hashes;
  std::optional<KeyHash> last;
  for (std::uint64_t chunk = 0; chunk < domains.chunk_count(); ++chunk) {
    const std::vector<std::byte> bytes = read_chunk(domains, chunk);
    hashes.clear();
    for (std::size_t at = 0; at < bytes.size(); at += SortedHashes::kHashBytes) {
      const auto hash = load_little_endian<KeyHash>(bytes.data() + at);
      if (last && hash <= *last) throw_damaged(domains, chunk, "not in ascending order", ErrorCode::bad_section);
      last = hash;
      hashes.push_back(hash);
    }
    use(hashes);
  }
}

void StoreFile::require_unchanged() const {
  if (is_unchanged()) return;
  throw BloomgateError(ErrorCode::changed_while_open,
                       path_ +
                           " was written to while it was open; replace stores by renaming a new one over them, as "
                           "'bloomgate build' does, and never change them in place",
                       {.path = path_});
}

std::unique_ptr<StoreFile> open_store(const std::string& path, std::uint64_t identity, const std::string& filter_path) {
  if (identity == 0) {
    throw BloomgateError(ErrorCode::bad_input,
                         filter_path + " was built without a store; build it with 'bloomgate build --store'",
                         {.path = filter_path});
  }
  const std::string staged = staged_path(resolve_link(path));
  const auto open_staged = [&]() -> std::unique_ptr<StoreFile> {
    if (access(staged.c_str(), F_OK) != 0) return nullptr;
    try {
      auto store = std::make_unique<StoreFile>(staged);
      return store->identity() == identity ? std::move(store) : nullptr;
    } catch (const BloomgateError&) {
      return nullptr;  // the file at `path` decides
    }
  };
  std::unique_ptr<StoreFile> store;
  try {
    store = std::make_unique<StoreFile>(path);
  } catch (const BloomgateError&) {
    if (auto other = open_staged()) return other;
    throw;
  }
  if (store->identity() == identity) return store;
  if (auto other = open_staged()) return other;
  throw BloomgateError(ErrorCode::bad_input,
                       path + " is not the store of " + filter_path +
                           ": the two are of different builds; copy both files of one build, or build again with "
                           "--store",
                       {path, std::nullopt, std::to_string(identity), std::to_string(store->identity())});
}

}  // namespace bloomgate
