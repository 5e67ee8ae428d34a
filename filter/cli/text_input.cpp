#include "filter/cli/text_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "filter/address.hpp"
#include "filter/error.hpp"
#include "filter/file_descriptor.hpp"

namespace bloomgate::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kKeptBytes = kMaxInputBytes + 1;  // enough for the canonicaliser to see that it is too long

// Cuts a stream of blocks into lines.
class LineSplitter {
 public:
  LineSplitter(const std::string& file, const std::function<void(const InputLine&)>& visit)
      : file_(file), visit_(visit) {}

  void add(std::string_view block) {
    while (!block.empty()) {
      const std::size_t end = block.find('\n');
      const std::string_view piece = block.substr(0, end);
      if (end == std::string_view::npos) {
        keep(piece);
        return;
      }
      if (started_.empty()) {
        emit(piece.substr(0, kKeptBytes));
      } else {
        keep(piece);
        emit(started_);
        started_.clear();
      }
      block.remove_prefix(end + 1);
    }
  }

  // The last line may lack its line end.
  void finish() {
    if (!started_.empty()) emit(started_);
    started_.clear();
  }

 private:
  void keep(std::string_view piece) { started_.append(piece.substr(0, kKeptBytes - started_.size())); }
  void emit(std::string_view text) { visit_({file_, ++number_, text}); }

  const std::string& file_;
  const std::function<void(const InputLine&)>& visit_;
  std::uint64_t number_ = 0;
  std::string started_;  // the start of a line whose end is in a later block
};

void read_lines(int file, const std::string& name, const std::atomic<bool>& stop,
                const std::function<void(const InputLine&)>& visit) {
  std::vector<char> buffer(kBufferBytes);
  LineSplitter splitter(name, visit);
  while (true) {
    if (stop.load(std::memory_order_relaxed)) {
      throw BloomgateError(ErrorCode::interrupted, "stopped while reading " + name + "; nothing was changed");
    }
    const ssize_t count = read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error(ErrorCode::cannot_read, "read", name, errno);
    if (count == 0) break;
    splitter.add({buffer.data(), static_cast<std::size_t>(count)});
  }
  splitter.finish();
}

}  // namespace

void for_each_line(const std::vector<std::string>& inputs, const std::atomic<bool>& stop,
                   const std::function<void(const InputLine&)>& visit) {
  for (const std::string& input : inputs) {
    if (input == "-") {
      read_lines(STDIN_FILENO, "standard input", stop, visit);
      continue;
    }
    const FileDescriptor file(open(input.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status = {};
    if (!file.is_open() || fstat(file.get(), &status) != 0) {
      throw system_error(ErrorCode::cannot_open, "open", input, errno);
    }
    if (S_ISDIR(status.st_mode)) {
      throw BloomgateError(ErrorCode::bad_argument, input + " is a folder; name the files in it", {.path = input});
    }
    read_lines(file.get(), input, stop, visit);
  }
}

}  // namespace bloomgate::cli
