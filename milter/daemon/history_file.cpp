#include "milter/daemon/history_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <span>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

constexpr off_t kMostBytes = off_t{1} << 20U;  // five times what DecisionHistory::text() needs
constexpr mode_t kMode = 0640;

std::int64_t quarter_of(DecisionHistory::Time time) noexcept {
  return time.time_since_epoch() / DecisionHistory::Quarters::kSpan;
}

std::string text_of(const std::string& path) {
  struct stat status = {};
  const FileDescriptor file = open_regular_file(path, "a file of the daemon's own", status);
  if (status.st_size > kMostBytes)
    throw BloomgateError(ErrorCode::bad_input, "'" + path + "' is too large for a history");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  const int error = read_at(file.get(), std::as_writable_bytes(std::span(text)), 0);
  if (error != 0) throw system_error(ErrorCode::cannot_read, "read", path, error);
  return text;
}

}  // namespace

HistoryFile::HistoryFile(std::string path, DecisionHistory& history, DecisionHistory::Time now, Warn warn)
    : path_(std::move(path)), history_(history), warn_(std::move(warn)), saved_in_(quarter_of(now)) {
  try {
    lock();
    load();
  } catch (const std::exception& error) {
    may_save_ = false;
    this->warn(error);
  }
  save();  // so that an unusable path is reported at the start
}

// Held as long as the daemon lives: only one daemon may use the file.
void HistoryFile::lock() {
  const std::string name = folder_of(path_) + "/" + hidden_prefix(path_, ".lock");
  lock_ = FileDescriptor(open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock_.is_open()) throw replacement_error("open", name, errno);
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw BloomgateError(ErrorCode::cannot_write,
                         "another daemon keeps its history in '" + path_ + "': name another file");
  }
}

void HistoryFile::tick(DecisionHistory::Time now) noexcept {
  if (quarter_of(now) == saved_in_) return;
  saved_in_ = quarter_of(now);
  save();
}

void HistoryFile::load() {
  if (access(path_.c_str(), F_OK) != 0 && errno == ENOENT) return;
  const auto wrong = history_.restore(text_of(path_));
  if (!wrong) return;
  throw BloomgateError(
      ErrorCode::bad_input,
      fmt::format(
          "line {} of '{}' is not a line of a history: remove the file and restart the daemon, or name another file",
          *wrong, path_));
}

void HistoryFile::save() noexcept {
  if (!may_save_) return;
  try {
    replace_file(path_, history_.text(), kMode);
    last_warning_.clear();
  } catch (const std::exception& error) {
    warn(error);
  }
}

void HistoryFile::warn(const std::exception& error) noexcept {
  try {
    std::string what = error.what();
    const auto* const ours = dynamic_cast<const BloomgateError*>(&error);
    // The advice for other commands, to try as root, does not fit a daemon.
    if (ours != nullptr && ours->code() == ErrorCode::not_permitted) {
      what = "'" + path_ + "' cannot be written: the daemon's user must be able to write to its folder";
    }
    if (std::exchange(last_warning_, what) != what && warn_) {
      warn_("history-file: " + what + ": the charts of the status page do not outlive the daemon");
    }
  } catch (const std::exception&) {
    return;  // no memory for a warning
  }
}

}  // namespace bloomgate
