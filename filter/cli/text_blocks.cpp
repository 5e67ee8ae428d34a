#include "filter/cli/text_blocks.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "filter/address.hpp"
#include "filter/error.hpp"
#include "filter/file_descriptor.hpp"
#include "filter/plain_line.hpp"

namespace bloomgate::cli {
namespace {

constexpr std::size_t kKeptBytes =
    kMaxInputBytes + 1;  // of a line: enough for the canonicaliser to see that it is too long
constexpr std::size_t kStorageBytes = 1 + TextBlock::kTextBytes + kKeptBytes + kPlainLineReadable;

}  // namespace

// One list: a regular file, of which any part can be read at any time, or a stream, which has to be read in order.
class TextBlocks::Input {
 public:
  Input(const std::string& path, const std::atomic<bool>& stop)
      : stop_(stop),
        name_(path == "-" ? "standard input" : path),
        file_(path == "-" ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        fd_(path == "-" ? STDIN_FILENO : file_.get()) {
    struct stat status = {};
    if (fd_ < 0 || fstat(fd_, &status) != 0) throw system_error(ErrorCode::cannot_open, "open", name_, errno);
    if (S_ISDIR(status.st_mode)) {
      throw BloomgateError(ErrorCode::bad_argument, name_ + " is a folder; name the files in it", {.path = name_});
    }
    const off_t position = lseek(fd_, 0, SEEK_CUR);
    // Standard input may be a file that somebody has read the start of: then it is a stream.
    is_file_ = S_ISREG(status.st_mode) && position == 0;
    if (is_file_) {
      file_bytes_ = static_cast<std::uint64_t>(status.st_size);
      posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
  }

  const std::string& name() const noexcept { return name_; }
  bool is_file() const noexcept { return is_file_; }
  std::uint64_t file_bytes() const noexcept { return file_bytes_; }

  // What next() does under the mutex: whether a block can be had now, and claiming it.
  bool ended() const noexcept { return is_file_ ? next_offset_ >= file_bytes_ : ended_; }
  bool busy() const noexcept { return busy_; }
  std::uint64_t claim(TextBlock& block) noexcept {
    block.index = next_index_++;
    const std::uint64_t offset = next_offset_;
    next_offset_ += TextBlock::kTextBytes;
    busy_ = !is_file_;
    return offset;
  }
  void release() noexcept { busy_ = false; }

  // What next() does without the mutex. Give the bytes read.
  std::uint64_t read_part(std::uint64_t offset, std::uint64_t bytes, TextBlock& block);  // lines that start in there
  std::uint64_t read_stream(TextBlock& block);

 private:
  void check_stop() const;
  void wait_for_stream() const;
  std::size_t read_some(char* to, std::size_t bytes, std::uint64_t offset);

  const std::atomic<bool>& stop_;
  std::string name_;
  FileDescriptor file_;
  int fd_;
  bool is_file_ = false;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t next_offset_ = 0;
  std::uint64_t next_index_ = 0;
  bool busy_ = false;
  bool ended_ = false;
  std::string started_;       // of a stream: the start of a line whose end is in the next block
  bool skip_to_end_ = false;  // of a stream: the rest of a line that was cut
};

void TextBlocks::Input::check_stop() const {
  if (stop_.load(std::memory_order_relaxed)) {
    throw BloomgateError(ErrorCode::interrupted, "stopped while reading " + name_ + "; nothing was changed");
  }
}

// Waits until a stream has something. A signal interrupts only the thread that takes it, so a worker looks up now and
// then.
void TextBlocks::Input::wait_for_stream() const {
  constexpr int kMilliseconds = 100;
  pollfd stream = {.fd = fd_, .events = POLLIN, .revents = 0};
  do {
    check_stop();
  } while (poll(&stream, 1, kMilliseconds) == 0 || stream.revents == 0);
}

std::size_t TextBlocks::Input::read_some(char* to, std::size_t bytes, std::uint64_t offset) {
  while (true) {
    if (is_file_) {
      check_stop();
    } else {
      wait_for_stream();
    }
    const ssize_t count = is_file_ ? pread(fd_, to, bytes, static_cast<off_t>(offset)) : read(fd_, to, bytes);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw system_error(ErrorCode::cannot_read, "read", name_, errno);
  }
}

std::uint64_t TextBlocks::Input::read_part(std::uint64_t offset, std::uint64_t bytes, TextBlock& block) {
  // One byte before the part tells whether a line starts at its first byte; behind it is the rest of its last line.
  const std::uint64_t begin = offset == 0 ? 0 : offset - 1;
  const std::uint64_t part_end = std::min(offset + bytes, file_bytes_);
  const std::uint64_t end = std::min(part_end + kKeptBytes, file_bytes_);
  std::size_t have = 0;
  while (begin + have < end) {
    const std::size_t count = read_some(block.storage.data() + have, end - begin - have, begin + have);
    if (count == 0) {
      throw BloomgateError(ErrorCode::cannot_read,
                           name_ + " shrank while it was read, from " + std::to_string(file_bytes_) + " bytes to " +
                               std::to_string(begin + have) + "; run again when nobody writes to it",
                           {.path = name_, .offset = begin + have});
    }
    have += count;
  }
  std::string_view text(block.storage.data(), have);
  std::size_t part_bytes = part_end - begin;  // of `text`: where no further line may start
  if (offset != 0) {
    const std::size_t before = text.substr(0, part_bytes).find('\n');
    const std::size_t skipped = before == std::string_view::npos ? part_bytes : before + 1;
    text.remove_prefix(skipped);
    part_bytes -= skipped;
  }
  // The last line that starts in the part ends with the first line end at or behind the part's last byte.
  const std::size_t line_end = part_bytes == 0 ? 0 : text.find('\n', part_bytes - 1);
  block.text = part_bytes == 0 ? std::string_view()
                               : text.substr(0, line_end == std::string_view::npos ? line_end : line_end + 1);
  return part_end - offset;
}

std::uint64_t TextBlocks::Input::read_stream(TextBlock& block) {
  char* const storage = block.storage.data();
  std::size_t have = started_.size();
  std::copy(started_.begin(), started_.end(), storage);
  started_.clear();
  std::uint64_t count_all = 0;
  while (have < TextBlock::kTextBytes) {
    const std::size_t count = read_some(storage + have, TextBlock::kTextBytes - have, 0);
    if (count == 0) {
      ended_ = true;
      break;
    }
    count_all += count;
    char* const end = storage + have + count;
    if (skip_to_end_) {
      char* const line_end = std::find(storage + have, end, '\n');
      skip_to_end_ = line_end == end;
      have = static_cast<std::size_t>(std::copy(skip_to_end_ ? end : line_end + 1, end, storage + have) - storage);
    } else {
      have += count;
    }
    // A pipe gives little at a time; whole lines are passed on as they come, so that nobody waits for more.
    if (std::find(storage, storage + have, '\n') != storage + have) break;
  }
  std::string_view text(storage, have);
  if (!ended_) {
    const std::size_t last_line = text.rfind('\n') + 1;  // 0 where there is no line end
    if (last_line == 0 && have == TextBlock::kTextBytes) {
      skip_to_end_ = true;
      text = text.substr(0, kKeptBytes);
    } else {
      started_ = text.substr(last_line);
      text = text.substr(0, last_line);
    }
  }
  block.text = text;
  return count_all;
}

TextBlocks::TextBlocks(const std::vector<std::string>& inputs, const std::atomic<bool>& stop) : stop_(stop) {
  for (const std::string& input : inputs) inputs_.push_back(std::make_unique<Input>(input, stop));
  if (std::ranges::all_of(inputs_, [](const auto& input) { return input->is_file(); })) {
    for (const auto& input : inputs_) total_bytes_ += input->file_bytes();
  }
}

TextBlocks::~TextBlocks() = default;

const std::string& TextBlocks::name(std::size_t input) const noexcept {
  return inputs_[input]->name();
}

// The first input that has a block to give, or nothing when all have ended. Waits while all that is left is being read.
TextBlocks::Input* TextBlocks::take_input(std::unique_lock<std::mutex>& lock) {
  while (!failed_) {
    bool some_busy = false;
    for (const auto& input : inputs_) {
      if (input->busy()) {
        some_busy = true;
      } else if (!input->ended()) {
        return input.get();
      }
    }
    if (!some_busy) return nullptr;
    released_.wait(lock);
  }
  return nullptr;
}

std::uint64_t TextBlocks::file_bytes(std::size_t input) const noexcept {
  return inputs_[input]->file_bytes();
}

void TextBlocks::sample(std::size_t input, std::uint64_t offset, std::uint64_t bytes, TextBlock& block) {
  block.storage.resize(kStorageBytes);
  block.input = input;
  inputs_[input]->read_part(offset, bytes, block);
}

bool TextBlocks::next(TextBlock& block) {
  block.storage.resize(kStorageBytes);
  std::unique_lock lock(mutex_);
  Input* const input = failed_ ? nullptr : take_input(lock);
  if (input == nullptr) return false;
  const auto is_input = [input](const auto& candidate) { return candidate.get() == input; };
  block.input = static_cast<std::size_t>(std::ranges::find_if(inputs_, is_input) - inputs_.begin());
  const std::uint64_t offset = input->claim(block);
  lock.unlock();
  std::exception_ptr failure;
  try {
    done_bytes_ +=
        input->is_file() ? input->read_part(offset, TextBlock::kTextBytes, block) : input->read_stream(block);
  } catch (...) {
    failure = std::current_exception();
    failed_ = true;
  }
  if (!input->is_file()) {
    lock.lock();
    input->release();
    released_.notify_all();
  }
  if (failure) std::rethrow_exception(failure);
  return true;
}

}  // namespace bloomgate::cli
