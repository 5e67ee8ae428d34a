#include "milter/brake/counts_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

constexpr std::array<char, 8> kMagic = {'B', 'L', 'G', 'C', 'O', 'U', 'N', 'T'};
constexpr std::uint32_t kVersion = 1;  // in another byte order, this is another number
constexpr std::size_t kSendersAtOnce = 1024;

// In the byte order of the machine.
struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t sender_bytes = sizeof(SenderCounts);
  std::uint64_t seed = 0;
  std::uint64_t senders = 0;
  HalfHours began = 0;
  std::uint32_t zero = 0;
  std::uint64_t checksum = 0;  // of this header without the checksum, and of each piece of senders
};
static_assert(sizeof(Header) == 48 && std::is_trivially_copyable_v<Header>);
static_assert(std::is_trivially_copyable_v<SenderCounts>);

template <typename Value>
std::string_view text_of(std::span<const Value> values) noexcept {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::uint64_t checksum_of(Header header, std::uint64_t of_senders) noexcept {
  header.checksum = 0;
  return hash_key(text_of(std::span<const Header>(&header, 1)), of_senders);
}

// Writes senders after the header.
class Writer {
 public:
  Writer(int file, const std::string& path) : file_(file), path_(path) { waiting_.reserve(kSendersAtOnce); }

  void add(const SenderCounts& sender) {
    waiting_.push_back(sender);
    if (waiting_.size() == kSendersAtOnce) flush();
  }

  void flush() {
    if (waiting_.empty()) return;
    write(std::as_bytes(std::span(waiting_)), at_);
    checksum_ = hash_key(text_of(std::span<const SenderCounts>(waiting_)), checksum_);
    at_ += waiting_.size() * sizeof(SenderCounts);
    count_ += waiting_.size();
    waiting_.clear();
  }

  void finish(const CountsOrigin& origin) {
    flush();
    Header header;
    header.seed = origin.seed;
    header.began = origin.began;
    header.senders = count_;
    header.checksum = checksum_of(header, checksum_);
    write(std::as_bytes(std::span(&header, 1)), 0);
  }

 private:
  void write(std::span<const std::byte> bytes, std::uint64_t at) const {
    if (const int error = write_at(file_, bytes, at)) throw replacement_error("write", path_, error);
  }

  const int file_;
  const std::string& path_;
  std::vector<SenderCounts> waiting_;
  std::uint64_t at_ = sizeof(Header);
  std::uint64_t count_ = 0;
  std::uint64_t checksum_ = 0;
};

[[noreturn]] void refuse(ErrorCode code, const std::string& what, const std::string& path) {
  throw BloomgateError(code, "'" + path + "' " + what, {.path = path});
}

void read_piece(int file, std::span<std::byte> bytes, std::uint64_t at, const std::string& path) {
  if (const int error = read_at(file, bytes, at)) throw system_error(ErrorCode::cannot_read, "read", path, error);
}

Header read_header(int file, std::uint64_t bytes, const std::string& path) {
  Header header;
  if (bytes < sizeof header) refuse(ErrorCode::too_short, "is no file of counts: it is too short", path);
  read_piece(file, std::as_writable_bytes(std::span(&header, 1)), 0, path);
  if (header.magic != kMagic) refuse(ErrorCode::bad_magic, "is no file of counts", path);
  if (header.version != kVersion || header.sender_bytes != sizeof(SenderCounts)) {
    refuse(ErrorCode::unsupported_version, "was written by another version of Bloomgate, or on another machine", path);
  }
  const std::uint64_t behind = bytes - sizeof header;
  if (behind % sizeof(SenderCounts) != 0 || behind / sizeof(SenderCounts) != header.senders) {
    refuse(ErrorCode::wrong_size, "does not have the size that its header says", path);
  }
  return header;
}

// Calls `visit(std::span<const SenderCounts>)`.
template <typename Visit>
void for_each_piece(int file, const Header& header, const std::string& path, Visit visit) {
  std::vector<SenderCounts> room(kSendersAtOnce);
  std::uint64_t at = sizeof header;
  for (std::uint64_t left = header.senders; left != 0;) {
    const std::span piece = std::span(room).first(std::min<std::uint64_t>(left, kSendersAtOnce));
    read_piece(file, std::as_writable_bytes(piece), at, path);
    visit(piece);
    at += piece.size_bytes();
    left -= piece.size();
  }
}

}  // namespace

void write_counts(const std::string& path, const CountsOrigin& origin, const BusiestSenders& senders, HalfHours since) {
  Replacement file(path, folder_of(path) + "/" + hidden_prefix(path, ".new"), 0640);
  Writer writer(file.descriptor(), path);
  senders.for_each([&](const SenderCounts& each) {
    if (each.last() >= since) writer.add(each);
  });
  writer.finish(origin);
  file.put_in_place();
}

std::optional<CountsOrigin> read_counts(const std::string& path, BusiestSenders& senders, HalfHours now) {
  struct stat status = {};
  FileDescriptor file;
  try {
    file = open_regular_file(path, "a file of counts", status);
  } catch (const BloomgateError& error) {
    if (error.code() == ErrorCode::cannot_open && access(path.c_str(), F_OK) != 0 && errno == ENOENT) return {};
    throw;
  }
  const Header header = read_header(file.get(), static_cast<std::uint64_t>(status.st_size), path);
  std::uint64_t checksum = 0;
  for_each_piece(file.get(), header, path,
                 [&](std::span<const SenderCounts> piece) { checksum = hash_key(text_of(piece), checksum); });
  if (header.checksum != checksum_of(header, checksum)) {
    refuse(ErrorCode::bad_body_checksum, "is damaged: its checksum is wrong", path);
  }
  // The senders are used only after all of the file has been checked.
  for_each_piece(file.get(), header, path, [&](std::span<const SenderCounts> piece) {
    for (const SenderCounts& each : piece) {
      if (each.key() == 0 || each.last() > now) continue;
      senders.visit(each.key(), each.last(), [&](SenderCounts& counts) { counts = each; });
    }
  });
  return CountsOrigin{.seed = header.seed, .began = header.began};
}

}  // namespace bloomgate
