#include "milter/message/message_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "filter/base/printable.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

// The most bytes that a connection keeps between messages.
constexpr std::size_t kMaxIdleTextBytes = 16384;

[[noreturn]] void fail(const char* deed, const std::string& folder, int error) {
  throw MessageTextError(
      fmt::format("{} a temporary file in {}: {}; see that the folder is there, that the daemon's "
                  "user may write to it, and that its disk is not full",
                  deed, printable(folder), std::generic_category().message(error)));
}

}  // namespace

MessageText::MessageText(Limits limits) : limits_(std::move(limits)) {}

void MessageText::add_field(std::string_view name, std::string_view value) {
  add(name);
  add(":");
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find('\n', begin), value.size());
    std::string_view line = value.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    add(line);
    add("\r\n");
    begin = end + 1;
  }
}

void MessageText::end_of_header() {
  add("\r\n");
}

void MessageText::add_body(std::string_view bytes) {
  add(bytes);
}

void MessageText::add(std::string_view bytes) {
  const std::uint64_t wanted = limits_.max_bytes - std::min(size_, limits_.max_bytes);
  if (bytes.size() > wanted) bytes = bytes.substr(0, static_cast<std::size_t>(wanted));
  const std::size_t to_memory = std::min(bytes.size(), limits_.memory_bytes - memory_.size());
  // Once there is a file, all further bytes go there, and the memory stays full.
  add_to_memory(bytes.substr(0, to_memory));
  add_to_file(bytes.substr(to_memory));
}

void MessageText::add_to_memory(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t needed = memory_.size() + bytes.size();
  // By itself, a vector may double beyond the limit.
  if (needed > memory_.capacity()) {
    memory_.reserve(std::min(limits_.memory_bytes, std::max(needed, 2 * memory_.capacity())));
  }
  memory_.insert(memory_.end(), bytes.begin(), bytes.end());
  size_ += bytes.size();
}

void MessageText::add_to_file(std::string_view bytes) {
  if (bytes.empty()) return;
  if (!file_.is_open()) {
    file_ = unnamed_file(limits_.folder);
    if (!file_.is_open()) fail("make", limits_.folder, errno);
  }
  const int error = write_at(file_.get(), std::as_bytes(std::span(bytes)), size_ - memory_.size());
  if (error != 0) fail("write", limits_.folder, error);
  size_ += bytes.size();
}

std::size_t MessageText::read(std::uint64_t offset, std::span<char> into) const {
  if (offset >= size_ || into.empty()) return 0;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - offset));
  if (offset < memory_.size()) {
    const std::size_t count = std::min(wanted, memory_.size() - static_cast<std::size_t>(offset));
    std::memcpy(into.data(), memory_.data() + offset, count);
    return count;
  }
  const int error = read_at(file_.get(), std::as_writable_bytes(into.first(wanted)), offset - memory_.size());
  if (error != 0) fail("read", limits_.folder, error);
  return wanted;
}

void MessageText::clear() noexcept {
  memory_.clear();
  if (memory_.capacity() > kMaxIdleTextBytes) std::vector<char>().swap(memory_);
  file_.reset();
  size_ = 0;
}

MessageText MessageText::take() {
  MessageText taken(limits_);
  taken.memory_.swap(memory_);
  taken.file_ = std::move(file_);
  taken.size_ = std::exchange(size_, 0);
  return taken;
}

}  // namespace bloomgate
