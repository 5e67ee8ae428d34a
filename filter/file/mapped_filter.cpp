#include "filter/file/mapped_filter.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <mutex>

#include "filter/base/error.hpp"
#include "filter/base/even_share.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/base/parallel.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/file/signature.hpp"
#include "filter/system/bus_fault.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/idle_work.hpp"

namespace bloomgate {

// A whole file, mapped read-only.
class MappedFilter::Mapping {
 public:
  explicit Mapping(const std::string& path) {
    struct stat status = {};
    file_ = open_regular_file(path, "a filter file", status);
    stamp_ = FileStamp(status);
    const std::uint64_t file_bytes = stamp_.size_bytes();
    if (file_bytes < kHeaderBytes) {
      Magic start = {};
      const std::span<std::byte> there = room_for_start(start, file_bytes);
      static_cast<void>(read_at(file_.get(), there, 0));
      throw too_short_error(there, kFilterMagic, path, file_bytes);
    }
    if (file_bytes > std::numeric_limits<std::size_t>::max()) {
      throw BloomgateError(ErrorCode::out_of_memory, path + " is too large for this machine's address space",
                           {.path = path});
    }
    bytes_ = static_cast<std::size_t>(file_bytes);
    void* const address = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file_.get(), 0);
    if (address == MAP_FAILED) throw system_error(ErrorCode::cannot_open, "map", path, errno);
    data_ = static_cast<const std::byte*>(address);
    try {
      guard_ = std::make_unique<GuardedMapping>(data_, bytes_);
    } catch (...) {
      munmap(address, bytes_);
      throw;
    }
  }

  ~Mapping() {
    guard_.reset();
    munmap(const_cast<std::byte*>(data_), bytes_);
  }

  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::byte> bytes() const noexcept { return {data_, bytes_}; }
  bool faulted() const noexcept { return guard_->faulted(); }
  int descriptor() const noexcept { return file_.get(); }
  const FileStamp& stamp() const noexcept { return stamp_; }

 private:
  FileDescriptor file_;
  FileStamp stamp_;
  const std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::unique_ptr<GuardedMapping> guard_;
};

namespace {

[[noreturn]] void throw_changed(const std::string& path) {
  throw BloomgateError(
      ErrorCode::changed_while_open,
      path +
          " was written to, shrank or became unreadable while it was open; replace filter files by renaming a new "
          "one over them, as 'bloomgate build' does, and never change them in place",
      {.path = path});
}

std::span<const std::byte> content_of(std::span<const std::byte> file, const Section& section) noexcept {
  return file.subspan(section.offset, section.bytes);
}

std::span<const std::byte> table_of(std::span<const std::byte> file, const Section& section) noexcept {
  return file.subspan(section.table_offset(), section.table_bytes());
}

void check_size(std::span<const std::byte> file, std::uint64_t expected, const std::string& path) {
  if (file.size() == expected) return;
  throw BloomgateError(
      ErrorCode::wrong_size,
      path + " has " + std::to_string(file.size()) + " bytes instead of the " + std::to_string(expected) +
          " that its header asks for; copy or build the file again",
      {path, std::min<std::uint64_t>(file.size(), expected), std::to_string(expected), std::to_string(file.size())});
}

// Checks the bytes between a section and the one before it, or the header. That one ends at `begin`.
void check_padding(std::span<const std::byte> file, std::uint64_t begin, std::uint64_t end, const std::string& path) {
  const auto padding = file.subspan(begin, end - begin);
  const auto found = std::ranges::find_if(padding, [](std::byte b) { return b != std::byte{0}; });
  if (found == padding.end()) return;
  const std::uint64_t at = begin + static_cast<std::uint64_t>(found - padding.begin());
  throw BloomgateError(ErrorCode::bad_section,
                       path + ": the byte at offset " + std::to_string(at) +
                           ", between two sections, is not zero; copy or build the file again",
                       {.path = path, .offset = at});
}

void check_table(std::span<const std::byte> file, const Section& section, const std::string& path) {
  const std::uint64_t computed = checksum(table_of(file, section));
  if (computed == section.table_checksum) return;
  throw BloomgateError(
      ErrorCode::bad_table_checksum,
      path + ": the checksum table at offset " + std::to_string(section.table_offset()) +
          " is damaged; copy or build the file again",
      {path, section.table_offset(), std::to_string(section.table_checksum), std::to_string(computed)});
}

DecodedHeader checked_header(std::span<const std::byte, kHeaderBytes> header, std::span<const std::byte> file,
                             const std::string& path) {
  DecodedHeader decoded = decode_header(header, path);
  check_size(file, decoded.sections.back().end(), path);
  std::uint64_t end = kHeaderBytes;
  for (const Section& section : decoded.sections) {
    check_padding(file, end, section.offset, path);
    check_table(file, section, path);
    end = section.end();
  }
  return decoded;
}

BloomgateError signature_error(const std::string& path, const std::string& fault) {
  return {ErrorCode::bad_signature,
          path + " " + fault + "; sign it where it is built (bloomgate sign --key KEY FILE), and copy it again",
          {.path = path}};
}

// A name for the content of a section, for a person.
std::string_view content_name(SectionKind kind) noexcept {
  if (kind == SectionKind::bits) return "the bit array";
  if (kind == SectionKind::sender_domains) return "the list of sender domains";
  return kind == SectionKind::domains ? "the list of domain entries" : "the list of excluded senders";
}

// The fault of the hashes of a section, or of its sender domains, if they are not in order.
std::string_view order_fault(SectionKind kind) noexcept {
  return kind == SectionKind::sender_domains ? "not as the format has it" : "not in ascending order";
}

}  // namespace

MappedFilter::MappedFilter(const std::string& path)
    : path_(path), mapping_(std::make_unique<Mapping>(path)), view_({}, {}) {
  const std::span<const std::byte> file = mapping_->bytes();
  try {
    std::ranges::copy(file.first<kHeaderBytes>(), header_bytes_.begin());
    DecodedHeader decoded = checked_header(header_bytes_, file, path);
    header_ = decoded.header;
    sections_ = std::move(decoded.sections);
    signature_ = decoded.signature;
  } catch (const BloomgateError&) {
    // The bytes that were just read may be the zeros that replaced a missing page.
    if (mapping_->faulted()) throw_changed(path);
    throw;
  }
  view_ = FilterView(header_.shape, bytes_of(sections_.front()), hashes_in(SectionKind::domains),
                     hashes_in(SectionKind::excluded), header_.kinds, sender_domains());
}

MappedFilter::~MappedFilter() = default;

SortedHashes MappedFilter::hashes_in(SectionKind kind) const noexcept {
  const Section* const section = find_section(sections_, kind);
  return section == nullptr ? SortedHashes() : SortedHashes(bytes_of(*section));
}

SenderDomains MappedFilter::sender_domains() const noexcept {
  const Section* const section = find_section(sections_, SectionKind::sender_domains);
  return section == nullptr ? SenderDomains() : SenderDomains(bytes_of(*section), section->items);
}

std::span<const std::byte> MappedFilter::bytes_of(const Section& section) const noexcept {
  return content_of(mapping_->bytes(), section);
}

std::uint64_t MappedFilter::body_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const Section& section : sections_) bytes += section.bytes;
  return bytes;
}

std::uint64_t MappedFilter::chunk_count() const noexcept {
  std::uint64_t count = 0;
  for (const Section& section : sections_) count += section.chunk_count();
  return count;
}

struct MappedFilter::Chunk {
  SectionKind kind;
  std::uint64_t begin;  // in its section
  std::uint64_t offset;
  std::span<const std::byte> bytes;
  std::uint64_t stored_checksum;

  bool is_as_written() const noexcept { return checksum(bytes) == stored_checksum; }
};

MappedFilter::Chunk MappedFilter::chunk_at(std::uint64_t index) const noexcept {
  const Section* section = sections_.data();
  for (; index >= section->chunk_count(); ++section) index -= section->chunk_count();
  const std::uint64_t begin = index * kChecksumChunkBytes;
  const std::span<const std::byte> table = table_of(mapping_->bytes(), *section);
  return {section->kind, begin, section->offset + begin,
          bytes_of(*section).subspan(begin, std::min(kChecksumChunkBytes, section->bytes - begin)),
          load_little_endian<std::uint64_t>(table.data() + index * sizeof(std::uint64_t))};
}

// Whether the hashes of a chunk ascend, including the last one before it. For the sender domains, each chunk checks an
// equal share of the groups, wherever these are.
bool MappedFilter::is_in_order(const Chunk& chunk) const {
  if (chunk.kind == SectionKind::bits) return true;
  if (chunk.kind == SectionKind::sender_domains) {
    const SenderDomains& domains = view_.sender_domains();
    const std::uint64_t groups = domains.coding().groups();
    const std::uint64_t chunks = find_section(sections_, chunk.kind)->chunk_count();
    const std::uint64_t number = chunk.begin / kChecksumChunkBytes;
    return domains.groups_are_sound(begin_of_share(groups, number, chunks), begin_of_share(groups, number + 1, chunks));
  }
  const std::uint64_t before = chunk.begin == 0 ? 0 : SortedHashes::kHashBytes;
  return SortedHashes(hashes_in(chunk.kind).bytes().subspan(chunk.begin - before, before + chunk.bytes.size()))
      .is_strictly_ascending();
}

bool MappedFilter::chunk_is_sound(std::uint64_t index) const noexcept {
  const Chunk chunk = chunk_at(index);
  // Otherwise the disk would get a request for each single page.
  madvise(const_cast<std::byte*>(chunk.bytes.data()), chunk.bytes.size(), MADV_WILLNEED);
  return chunk.is_as_written() && !mapping_->faulted();
}

void MappedFilter::require_signer(std::span<const PublicKey> trusted) const {
  if (!signature_) throw signature_error(path_, "is not signed, and only a signed file is trusted");
  if (std::ranges::find(trusted, signature_->signer) == trusted.end()) {
    throw signature_error(path_, "is signed by " + signature_->signer.text() + ", which is no trusted key");
  }
  if (!is_signed(header_bytes_)) {
    throw signature_error(path_, "has a signature that " + signature_->signer.text() + " has not made");
  }
}

void MappedFilter::verify_body(unsigned threads, const std::function<void(std::uint64_t)>& progress,
                               std::span<const PublicKey> trusted,
                               std::optional<std::chrono::milliseconds> patience_per_mib) const {
  if (!trusted.empty()) require_signer(trusted);
  const std::span<const std::byte> file = mapping_->bytes();
  std::vector<Digest> pieces(trusted.empty() ? 0 : piece_count(file.size()));
  madvise(const_cast<std::byte*>(file.data()), file.size(), MADV_SEQUENTIAL);
  const std::uint64_t count = chunk_count();
  std::mutex mutex;
  std::uint64_t first_damaged = count;
  std::uint64_t first_unsorted = count;
  std::uint64_t done_bytes = 0;
  // In the first section, which has nearly all bytes, the chunk and the piece with the same number are the same bytes,
  // and are read once.
  const std::uint64_t steps = std::max<std::uint64_t>(count, pieces.size());
  const auto step = [&](std::size_t index) {
    if (index < pieces.size()) {
      const PiecePlace place = place_of_piece(index, file.size());
      pieces[index] = digest_of(file.subspan(place.offset, place.bytes));
    }
    if (index >= count) return;
    const Chunk chunk = chunk_at(index);
    const bool is_damaged = !chunk.is_as_written();
    const bool is_unsorted = !is_in_order(chunk);
    const std::lock_guard lock(mutex);
    if (is_damaged) first_damaged = std::min<std::uint64_t>(first_damaged, index);
    if (is_unsorted) first_unsorted = std::min<std::uint64_t>(first_unsorted, index);
    done_bytes += chunk.bytes.size();
    if (progress) progress(done_bytes);
  };
  if (threads == 0) threads = default_threads();
  if (patience_per_mib) {
    for_each_when_idle(threads, steps, *patience_per_mib * steps, step);
  } else {
    for_each_parallel(threads, steps, step);
  }
  // From here on each look-up reads only its own page, so reading ahead would only displace other pages.
  madvise(const_cast<std::byte*>(file.data()), file.size(), MADV_RANDOM);
  require_whole();
  const auto refuse = [&](ErrorCode code, std::uint64_t index, std::string_view fault) {
    const Chunk chunk = chunk_at(index);
    throw BloomgateError(code,
                         path_ + ": " + std::string(content_name(chunk.kind)) + " is " + std::string(fault) +
                             " in the MiB at offset " + std::to_string(chunk.offset) + "; copy or build the file again",
                         {.path = path_, .offset = chunk.offset});
  };
  if (first_damaged != count) refuse(ErrorCode::bad_body_checksum, first_damaged, "damaged");
  if (first_unsorted != count)
    refuse(ErrorCode::bad_section, first_unsorted, order_fault(chunk_at(first_unsorted).kind));
  if (!trusted.empty() && content_of(pieces) != signature_->content) {
    throw signature_error(path_, "does not hold what " + signature_->signer.text() + " has signed");
  }
}

void MappedFilter::lock_in_memory() const {
  const std::span<const std::byte> file = mapping_->bytes();
  if (mlock(file.data(), file.size()) != 0) {
    throw system_error(ErrorCode::out_of_memory,
                       "lock in memory (raise the limit: LimitMEMLOCK= of the systemd unit, or ulimit -l)", path_,
                       errno);
  }
}

MappedFilter::State MappedFilter::state() const noexcept {
  if (mapping_->faulted()) return State::unreadable;
  const std::optional<FileStamp> now = FileStamp::of(mapping_->descriptor());
  if (!now) return State::unreadable;
  return *now == mapping_->stamp() ? State::whole : State::written_to;
}

void MappedFilter::require_whole() const {
  if (damaged()) throw_changed(path_);
}

void MappedFilter::require_no_counters() const {
  const LayoutRules& rules = layout_rules(header_.shape.layout);
  if (rules.why_not_asked().empty()) return;
  const std::string name(rules.name());
  throw BloomgateError(ErrorCode::unsupported_layout,
                       path_ + " has the layout " + name + ", which " + std::string(rules.why_not_asked()) +
                           "; make a filter from it with 'bloomgate counting-export " + shell_word(path_, "FILE") +
                           " --output FILTER', and name that",
                       {.path = path_, .expected = "a filter of another layout", .got = name});
}

int MappedFilter::descriptor() const noexcept {
  return mapping_->descriptor();
}

const FileStamp& MappedFilter::stamp() const noexcept {
  return mapping_->stamp();
}

std::string fingerprint_of(const MappedFilter& filter) {
  std::array<std::byte, kHeaderBytes> header;
  encode_header(filter.header(), filter.sections(), header);
  std::array<char, 17> text;
  const auto number = load_little_endian<std::uint64_t>(header.data() + header.size() - sizeof(std::uint64_t));
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

}  // namespace bloomgate
