#include "filter/ingest/input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <span>

#include "filter/address/address.hpp"
#include "filter/address/plain_line.hpp"
#include "filter/base/error.hpp"
#include "filter/base/even_share.hpp"
#include "filter/base/printable.hpp"
#include "filter/ingest/format.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kKeptBytes =
    kMaxInputBytes + 1;  // of a line: so much that the canonicaliser sees that it is too long

// Reads that bypass the page cache start and end at whole pages.
constexpr std::size_t kPage = DirectFile::kAlignment;
constexpr std::size_t kStorageBytes = 4 * kPage + Block::kTextBytes + std::max(kKeptBytes, PlainLines::kReadable);

// A longer line is never an entry. So text of that length shows how its lines end.
constexpr std::size_t kLineEndBytes = 2 * kMaxInputBytes;

// Whether text that begins so has CR alone as line ends. A CR at the end of `start` may be half of a CR LF.
bool has_cr_alone(std::string_view start) noexcept {
  const std::size_t cr = start.find('\r');
  return cr < start.size() - 1 && start.find('\n') == std::string_view::npos;
}

char* aligned_start(std::vector<char>& storage) noexcept {
  void* start = storage.data();
  std::size_t space = storage.size();
  return static_cast<char*>(std::align(kPage, 1, start, space));
}

// Whether most pages of a sample from all over the file are not in the page cache. False if the system does not report
// it, as for files that the caller may not write to.
bool most_is_missing(int file, std::uint64_t file_bytes) noexcept {
  constexpr std::uint64_t kProbes = 64;
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t missing = 0;
  for (std::uint64_t i = 0; i < kProbes; ++i) {
    const std::uint64_t offset = file_bytes / kProbes * i / page_bytes * page_bytes;
    void* const page = mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, file, static_cast<off_t>(offset));
    if (page == MAP_FAILED) return false;
    unsigned char is_there = 1;
    if (mincore(page, page_bytes, &is_there) == 0 && (is_there & 1) == 0) ++missing;
    munmap(page, page_bytes);
  }
  return missing > kProbes / 2;
}

}  // namespace

Input::Input(std::size_t index, const std::string& path, bool quotes, const std::atomic<bool>& stop,
             FileChanges changes)
    : stop_(stop),
      index_(index),
      path_(path),
      name_(path == "-" ? "standard input" : path),
      quotes_(quotes),
      changes_(changes) {
  if (path_ == "-") {
    fd_ = STDIN_FILENO;
  } else {
    open_file();
  }
  struct stat status = {};
  if (fstat(fd_, &status) != 0) throw system_error(ErrorCode::cannot_open, "open", name_, errno);
  if (S_ISDIR(status.st_mode)) {
    throw BloomgateError(ErrorCode::bad_argument, name_ + " is a folder; name the files in it", {.path = name_});
  }
  is_sent_ = path_ == "-" || S_ISFIFO(status.st_mode);
  // Standard input may be a file whose start another process has already read: then it is a stream.
  is_regular_ = S_ISREG(status.st_mode) && lseek(fd_, 0, SEEK_CUR) == 0;
  if (!is_regular_) return;
  stamp_ = FileStamp(status);
  file_bytes_ = share_end_ = stamp_.size_bytes();
  std::array<char, kLineEndBytes> start;
  const std::string_view begins(start.data(), read_at(start.data(), start.size(), 0));
  compression_ = recognise_compression(begins.substr(0, kCompressionMarkBytes), true);
  in_parts_ = compression_ == Compression::none && !quotes_ && !has_cr_alone(begins);
  constexpr std::uint64_t kLargeBytes = std::uint64_t{16} << 20;
  is_cold_ = in_parts_ && file_bytes_ >= kLargeBytes && most_is_missing(fd_, file_bytes_);
  close_file();
}

// Opens a file again. A file that replaced another may have another length. Cut at the old length, a line could become
// the address of another person.
void Input::open_file() {
  if (fd_ >= 0) return;
  file_.reset(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (!file_.is_open() || fstat(file_.get(), &status) != 0) {
    throw system_error(ErrorCode::cannot_open, "open", name_, errno);
  }
  if (is_regular_ && !stamp_.is_same_file(FileStamp(status))) {
    throw BloomgateError(ErrorCode::cannot_read,
                         name_ + " was replaced while the lists were read; run again when no program writes to them",
                         {.path = name_});
  }
  fd_ = file_.get();
  if (past_cache_) direct_ = DirectFile(path_, O_RDONLY);
  posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

void Input::close_file() noexcept {
  if (file_.is_open() && is_regular_) {
    file_.reset();
    direct_ = DirectFile();
    fd_ = -1;
  }
  decompressor_.reset();
}

void Input::take_share(unsigned part, unsigned parts) noexcept {
  if (!in_parts_) {
    ended_ = is_of_other_share_ = index_ % parts != part;
    return;
  }
  const std::uint64_t blocks = file_bytes_ / Block::kTextBytes + (file_bytes_ % Block::kTextBytes == 0 ? 0 : 1);
  const auto begin_of = [&](unsigned number) {
    return std::min(file_bytes_, begin_of_share(blocks, number, parts) * Block::kTextBytes);
  };
  share_begin_ = next_offset_ = begin_of(part);
  share_end_ = begin_of(part + 1);
}

std::uint64_t Input::lines_before_share() {
  if (share_begin_ == 0) return 0;
  open_file();
  ++readers_;
  std::uint64_t lines = 1;  // the first line starts at the first byte, each other one after a line end
  std::vector<char> text(Block::kTextBytes);
  for (std::uint64_t offset = 0; offset < share_begin_ - 1;) {
    const std::uint64_t wanted = std::min<std::uint64_t>(text.size(), share_begin_ - 1 - offset);
    const std::size_t count = read_at(text.data(), wanted, offset);
    if (count == 0) throw shrank_to(offset);
    lines += static_cast<std::uint64_t>(std::count(text.data(), text.data() + count, '\n'));
    offset += count;
  }
  require_unchanged();
  release();
  return lines;
}

std::uint64_t Input::claim(Block& block) {
  open_file();
  ++readers_;
  block.input = index_;
  block.index = next_index_++;
  block.is_of_later_share = share_begin_ != 0;
  const std::uint64_t offset = next_offset_;
  next_offset_ += Block::kTextBytes;
  return offset;
}

void Input::release() noexcept {
  if (--readers_ == 0 && ended()) close_file();
}

std::uint64_t Input::read(std::uint64_t offset, Block& block) {
  block.storage.resize(kStorageBytes);
  const std::uint64_t bytes = in_parts_ ? read_part(offset, Block::kTextBytes, block) : read_stream(block);
  require_unchanged();
  return bytes;
}

BloomgateError Input::shrank_to(std::uint64_t bytes) const {
  return {ErrorCode::cannot_read,
          name_ + " shrank while it was read, from " + std::to_string(file_bytes_) + " bytes to " +
              std::to_string(bytes) + "; run again when no program writes to it",
          {.path = name_, .offset = bytes}};
}

// If a list grows while it is read, it may end in half a line: `joe@example.co` is the address of another person. If it
// is rewritten, some blocks are from the old list and some from the new one.
void Input::require_unchanged() const {
  if (!is_regular_) return;
  const std::optional<FileStamp> now = FileStamp::of(fd_);
  if (now == stamp_) return;
  if (now && now->size_bytes() < file_bytes_) throw shrank_to(now->size_bytes());
  if (now && changes_ == FileChanges::appended) return;
  throw BloomgateError(
      ErrorCode::cannot_read,
      name_ + " was written to while it was read; run again when no program writes to it, or read a copy",
      {.path = name_});
}

void Input::sample(std::uint64_t offset, std::uint64_t bytes, Block& block) {
  block.storage.resize(kStorageBytes);
  block.input = index_;
  open_file();
  read_part(offset, bytes, block);
  close_file();
}

void Input::check_stop() const {
  if (stop_.load(std::memory_order_relaxed)) {
    throw BloomgateError(ErrorCode::interrupted, "stopped while reading " + name_ + "; nothing was changed");
  }
}

// Waits until a stream has data. A signal interrupts only the thread that handles it, so a worker checks from time to
// time.
void Input::wait_for_stream() const {
  constexpr int kMilliseconds = 100;
  pollfd stream = {.fd = fd_, .events = POLLIN, .revents = 0};
  do {
    check_stop();
  } while (poll(&stream, 1, kMilliseconds) == 0 || stream.revents == 0);
}

std::size_t Input::read_at(char* to, std::size_t bytes, std::uint64_t offset) const {
  while (true) {
    check_stop();
    const ssize_t count = pread(fd_, to, bytes, static_cast<off_t>(offset));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw system_error(ErrorCode::cannot_read, "read", name_, errno);
  }
}

std::size_t Input::read_next(char* to, std::size_t bytes) {
  while (true) {
    if (is_regular_) {
      check_stop();
    } else {
      wait_for_stream();
    }
    const ssize_t count = ::read(fd_, to, bytes);
    if (count >= 0) {
      raw_bytes_ += static_cast<std::uint64_t>(count);
      return static_cast<std::size_t>(count);
    }
    if (errno != EINTR) throw system_error(ErrorCode::cannot_read, "read", name_, errno);
  }
}

// The stream as it is, from its first byte, even if some bytes have already been examined.
std::size_t Input::read_raw(char* to, std::size_t bytes) {
  if (start_.empty()) return read_next(to, bytes);
  const std::size_t count = start_.copy(to, bytes);
  start_.erase(0, count);
  return count;
}

std::size_t Input::read_text(char* to, std::size_t bytes) {
  const std::size_t count = read_decompressed(to, bytes);
  if (!ends_with_cr_) ends_with_cr_ = has_cr_alone({to, std::min(count, kLineEndBytes)});
  if (*ends_with_cr_) std::replace(to, to + count, '\r', '\n');
  return count;
}

std::size_t Input::read_decompressed(char* to, std::size_t bytes) {
  while (!compression_) {
    std::array<char, kCompressionMarkBytes> more;
    const std::size_t count = read_next(more.data(), more.size() - start_.size());
    start_.append(more.data(), count);
    compression_ = recognise_compression(start_, count == 0);
  }
  if (compression_ == Compression::none) return read_raw(to, bytes);
  if (!decompressor_) {
    decompressor_ = std::make_unique<Decompressor>(
        *compression_, name_, [this](char* raw, std::size_t count) { return read_raw(raw, count); });
  }
  return decompressor_->read(to, bytes);
}

// The bytes [begin, end) of the file, in the block's storage.
std::string_view Input::read_range(std::uint64_t begin, std::uint64_t end, Block& block) {
  const std::uint64_t first = begin / kPage * kPage;
  char* const start = aligned_start(block.storage);
  std::uint64_t have = begin - first;
  if (direct_.is_open()) {
    check_stop();
    const std::uint64_t pages = (end - first + kPage - 1) / kPage;
    const std::uint64_t count = direct_.read(std::as_writable_bytes(std::span(start, pages * kPage)), first);
    have = std::clamp(count, have, end - first);
  }
  while (first + have < end) {
    const std::size_t count = read_at(start + have, end - first - have, first + have);
    if (count == 0) throw shrank_to(first + have);
    have += count;
  }
  return {start + (begin - first), end - begin};
}

std::uint64_t Input::read_part(std::uint64_t offset, std::uint64_t bytes, Block& block) {
  // The byte before the part shows whether a line starts at its first byte. After the part comes the rest of its last
  // line.
  const std::uint64_t begin = offset == 0 ? 0 : offset - 1;
  const std::uint64_t part_end = std::min(offset + bytes, file_bytes_);
  const std::uint64_t end = std::min(part_end + kKeptBytes, file_bytes_);
  std::string_view text = read_range(begin, end, block);
  std::size_t part_bytes = part_end - begin;  // position in `text` from which no further line may start
  if (offset != 0) {
    const std::size_t before = text.substr(0, part_bytes).find('\n');
    const std::size_t skipped = before == std::string_view::npos ? part_bytes : before + 1;
    text.remove_prefix(skipped);
    part_bytes -= skipped;
  }
  // The last line that starts in the part ends with the first line end at or after the part's last byte.
  const std::size_t line_end = part_bytes == 0 ? 0 : text.find('\n', part_bytes - 1);
  block.text = part_bytes == 0 ? std::string_view()
                               : text.substr(0, line_end == std::string_view::npos ? line_end : line_end + 1);
  return part_end - offset;
}

// The start of the last line of `text`, which does not end there.
std::size_t Input::find_last_line(std::string_view text) const noexcept {
  if (!quotes_) return text.rfind('\n') + 1;
  std::size_t at = 0;
  while (true) {
    bool in_quotes = false;
    const std::size_t bytes = find_line_end(text.substr(at), quotes_, in_quotes);
    if (bytes == std::string_view::npos) return at;
    at += bytes;
  }
}

// A quote that is not closed would include all lines up to the next quote.
BloomgateError Input::open_quote(std::string_view text) const {
  constexpr std::size_t kShown = 60;
  return {ErrorCode::bad_input,
          name_ + " has a quote that does not end, in the row with '" + printable(text.substr(0, kShown)) +
              "...': the lines behind it would be lost; correct the row (a quote " + "within quotes is doubled)",
          {.path = name_}};
}

std::uint64_t Input::read_stream(Block& block) {
  char* const storage = block.storage.data();
  std::size_t have = started_.size();
  std::copy(started_.begin(), started_.end(), storage);
  started_.clear();
  const std::uint64_t raw_before = raw_bytes_;
  while (have < Block::kTextBytes) {
    const std::size_t count = read_text(storage + have, Block::kTextBytes - have);
    if (count == 0) {
      ended_ = true;
      break;
    }
    char* const end = storage + have + count;
    if (skip_to_end_) {
      const std::string_view more(storage + have, count);
      const std::size_t skipped = find_line_end(more, quotes_, in_quotes_);
      skip_to_end_ = skipped == std::string_view::npos;
      if (skip_to_end_ && in_quotes_ && more.find('\n') != std::string_view::npos) throw open_quote(more);
      have =
          static_cast<std::size_t>(std::copy(storage + have + std::min(skipped, count), end, storage + have) - storage);
    } else {
      have += count;
    }
    // A pipe gives little at a time; whole lines are passed on as they come, so that they never wait for more.
    bool in_quotes = false;
    if (!is_regular_ && find_line_end({storage, have}, quotes_, in_quotes) != std::string_view::npos) break;
  }
  std::string_view text(storage, have);
  if (!ended_) {
    const std::size_t last_line = find_last_line(text);  // 0 if there is no line end
    if (last_line == 0 && have == Block::kTextBytes) {
      skip_to_end_ = true;
      in_quotes_ = false;
      find_line_end(text, quotes_, in_quotes_);
      if (in_quotes_ && text.find('\n') != std::string_view::npos) throw open_quote(text);
      text = text.substr(0, kKeptBytes);
    } else {
      started_ = text.substr(last_line);
      text = text.substr(0, last_line);
    }
  }
  block.text = text;
  return raw_bytes_ - raw_before;
}

}  // namespace bloomgate
