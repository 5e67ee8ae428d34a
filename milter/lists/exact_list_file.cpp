#include "milter/lists/exact_list_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {
namespace {

constexpr int kMostReadings = 10;
constexpr std::chrono::milliseconds kBetweenReadings{50};
constexpr std::chrono::milliseconds kRest{300};

// Reads all bytes, up to one more than the file had.
std::string read_all(int fd, std::size_t file_bytes, const std::string& path) {
  std::string text(file_bytes + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t count = read(fd, text.data() + have, text.size() - have);
    if (count == 0) break;
    if (count < 0 && errno != EINTR) throw system_error(ErrorCode::cannot_read, "read", path, errno);
    if (count > 0) have += static_cast<std::size_t>(count);
  }
  text.resize(have);
  return text;
}

// A time in the future is no sign of a writer: the clocks of this machine and of a file server differ.
bool has_rested(const timespec& changed) noexcept {
  const auto since_epoch = std::chrono::seconds(changed.tv_sec) + std::chrono::nanoseconds(changed.tv_nsec);
  const auto age = std::chrono::system_clock::now().time_since_epoch() - since_epoch;
  return age < std::chrono::nanoseconds(0) || age >= kRest;
}

// Nothing if a program is writing to the file.
std::optional<std::string> read_once(const std::string& path, std::uint64_t most_bytes) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status = {};
  if (!file.is_open() || fstat(file.get(), &status) != 0) {
    throw system_error(ErrorCode::cannot_open, "open", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw BloomgateError(ErrorCode::not_a_regular_file,
                         path + " is not a regular file; an exact list is a text file with one entry per line",
                         {.path = path});
  }
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  if (file_bytes > most_bytes) {
    throw BloomgateError(ErrorCode::bad_input,
                         path + " has " + std::to_string(file_bytes) + " bytes, but an exact list may have at most " +
                             std::to_string(most_bytes) + "; put a list of that size into a filter",
                         {path, {}, "at most " + std::to_string(most_bytes) + " bytes", std::to_string(file_bytes)});
  }
  std::string text = read_all(file.get(), file_bytes, path);
  if (text.size() != file_bytes || FileStamp::of(file.get()) != FileStamp(status)) return std::nullopt;
  // A program that writes a list anew in its place empties it first.
  if (!text.ends_with('\n') && !has_rested(status.st_mtim)) return std::nullopt;
  return text;
}

}  // namespace

std::string read_list_text(const std::string& path, std::uint64_t most_bytes) {
  for (int reading = 0; reading < kMostReadings; ++reading) {
    if (reading != 0) std::this_thread::sleep_for(kBetweenReadings);
    if (auto text = read_once(path, most_bytes)) return *std::move(text);
  }
  throw BloomgateError(ErrorCode::cannot_read,
                       path + " keeps changing while it is read; write lists under another name and rename them",
                       {.path = path});
}

ExactListReading load_exact_list(const std::string& path, ListOf of, std::uint64_t most_bytes) {
  return read_exact_list(path, read_list_text(path, most_bytes), of);
}

ExactListReading read_exact_list(const std::string& path, std::string_view text, ListOf of, ExactList beside) {
  if (const std::string_view kind = own_kind(std::as_bytes(std::span(text))); !kind.empty()) {
    throw BloomgateError(ErrorCode::bad_input,
                         path + " is " + std::string(kind) +
                             ", and an exact list is a text file with one entry per line; name such a file",
                         {.path = path});
  }
  ExactListReading reading = read_exact_list(text, of, std::move(beside));
  if (reading.spoiled_line != 0) {
    throw BloomgateError(ErrorCode::bad_input,
                         path + " is damaged: line " + std::to_string(reading.spoiled_line) +
                             " has bytes that are no text (control characters, or invalid UTF-8); write the list again",
                         {.path = path});
  }
  return reading;
}

}  // namespace bloomgate
