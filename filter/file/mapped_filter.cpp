#include "filter/file/mapped_filter.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <mutex>

#include "filter/base/bus_fault.hpp"
#include "filter/base/error.hpp"
#include "filter/base/file_descriptor.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/base/parallel.hpp"

namespace bloomgate {

// A whole file, mapped read-only.
class MappedFilter::Mapping {
 public:
  explicit Mapping(const std::string& path) {
    // O_NONBLOCK: opening a FIFO must not wait for a writer.
    file_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status = {};
    if (!file_.is_open() || fstat(file_.get(), &status) != 0) {
      throw system_error(ErrorCode::cannot_open, "open", path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
      throw BloomgateError(ErrorCode::not_a_regular_file, path + " is not a regular file; name a filter file",
                           {.path = path, .expected = "a regular file", .got = "another kind of file"});
    }
    stamp_ = FileStamp(status);
    const std::uint64_t file_bytes = stamp_.size_bytes();
    if (file_bytes < kHeaderBytes) {
      throw BloomgateError(ErrorCode::too_short,
                           path + " has " + std::to_string(file_bytes) + " bytes, less than the header of " +
                               std::to_string(kHeaderBytes) + "; copy or build the file again",
                           {path, file_bytes, std::to_string(kHeaderBytes), std::to_string(file_bytes)});
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

FilterHeader checked_header(std::span<const std::byte> file, const std::string& path) {
  const FilterHeader header = decode_header(file.first<kHeaderBytes>(), path);
  const FileExtent extent = file_extent(header.shape);
  if (file.size() != extent.file_bytes) {
    throw BloomgateError(ErrorCode::wrong_size,
                         path + " has " + std::to_string(file.size()) + " bytes instead of the " +
                             std::to_string(extent.file_bytes) +
                             " that its header asks for; copy or build the file again",
                         {path, std::min<std::uint64_t>(file.size(), extent.file_bytes),
                          std::to_string(extent.file_bytes), std::to_string(file.size())});
  }
  const std::uint64_t computed = checksum(file.subspan(kHeaderBytes + extent.body_bytes));
  if (computed != header.table_checksum) {
    throw BloomgateError(
        ErrorCode::bad_table_checksum,
        path + ": the checksum table at offset " + std::to_string(kHeaderBytes + extent.body_bytes) +
            " is damaged; copy or build the file again",
        {path, kHeaderBytes + extent.body_bytes, std::to_string(header.table_checksum), std::to_string(computed)});
  }
  return header;
}

// The bytes of a body that a checksum of the table is for, and whether it is theirs.
std::span<const std::byte> chunk_of(std::span<const std::byte> body, std::uint64_t chunk) noexcept {
  const std::uint64_t begin = chunk * kChecksumChunkBytes;
  return body.subspan(begin, std::min(kChecksumChunkBytes, body.size() - begin));
}

bool is_sound(std::span<const std::byte> bytes, std::span<const std::byte> table, std::uint64_t chunk) noexcept {
  return checksum(bytes) == load_little_endian<std::uint64_t>(table.data() + chunk * sizeof(std::uint64_t));
}

// Hands out the chunks of a body to threads and remembers the first damaged one.
class BodyCheck {
 public:
  BodyCheck(std::span<const std::byte> body, std::span<const std::byte> table,
            const std::function<void(std::uint64_t)>& progress)
      : body_(body), table_(table), progress_(progress) {}

  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  void run() {
    const std::uint64_t chunk_count = table_.size() / sizeof(std::uint64_t);
    for (std::uint64_t chunk; (chunk = next_.fetch_add(1)) < chunk_count;) {
      const std::span<const std::byte> bytes = chunk_of(body_, chunk);
      const bool damaged = !is_sound(bytes, table_, chunk);
      const std::lock_guard lock(mutex_);
      if (damaged) first_damaged_ = std::min(first_damaged_, chunk);
      done_bytes_ += bytes.size();
      if (progress_) progress_(done_bytes_);
    }
  }

  std::uint64_t first_damaged() const noexcept { return first_damaged_; }

 private:
  std::span<const std::byte> body_;
  std::span<const std::byte> table_;
  const std::function<void(std::uint64_t)>& progress_;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  std::uint64_t first_damaged_ = kNone;
  std::uint64_t done_bytes_ = 0;
};

}  // namespace

MappedFilter::MappedFilter(const std::string& path)
    : path_(path), mapping_(std::make_unique<Mapping>(path)), view_({}, {}) {
  const std::span<const std::byte> file = mapping_->bytes();
  try {
    header_ = checked_header(file, path);
  } catch (const BloomgateError&) {
    // The bytes just read may be the zeros that replaced a missing page.
    if (mapping_->faulted()) throw_changed(path);
    throw;
  }
  view_ = FilterView(header_.shape, file.subspan(kHeaderBytes, file_extent(header_.shape).body_bytes));
}

MappedFilter::~MappedFilter() = default;

void MappedFilter::verify_body(unsigned threads, const std::function<void(std::uint64_t)>& progress) const {
  const std::span<const std::byte> file = mapping_->bytes();
  const std::span<const std::byte> body = view_.body();
  madvise(const_cast<std::byte*>(file.data()), file.size(), MADV_SEQUENTIAL);
  BodyCheck check(body, file.subspan(kHeaderBytes + body.size()), progress);
  run_parallel(threads == 0 ? default_threads() : threads, [&](unsigned) { check.run(); });
  // From here on each look-up reads its own page, so reading ahead would only push other pages out.
  madvise(const_cast<std::byte*>(file.data()), file.size(), MADV_RANDOM);
  require_whole();
  if (check.first_damaged() != BodyCheck::kNone) {
    const std::uint64_t at = kHeaderBytes + check.first_damaged() * kChecksumChunkBytes;
    throw BloomgateError(ErrorCode::bad_body_checksum,
                         path_ + ": the bit array is damaged in the MiB at offset " + std::to_string(at) +
                             "; copy or build the file again",
                         {.path = path_, .offset = at});
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

std::uint64_t MappedFilter::chunk_count() const noexcept {
  return file_extent(header_.shape).chunk_count;
}

bool MappedFilter::chunk_is_sound(std::uint64_t index) const noexcept {
  const std::span<const std::byte> body = view_.body();
  const std::span<const std::byte> bytes = chunk_of(body, index);
  // Else the disk would be asked for each page by itself.
  madvise(const_cast<std::byte*>(bytes.data()), bytes.size(), MADV_WILLNEED);
  return is_sound(bytes, mapping_->bytes().subspan(kHeaderBytes + body.size()), index) && !mapping_->faulted();
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

int MappedFilter::descriptor() const noexcept {
  return mapping_->descriptor();
}

const FileStamp& MappedFilter::stamp() const noexcept {
  return mapping_->stamp();
}

}  // namespace bloomgate
