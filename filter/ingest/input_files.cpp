#include "filter/ingest/input_files.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"

namespace bloomgate {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) {
  return path.filename().native().starts_with('.');
}

enum class DeadLinks : std::uint8_t { refused, skipped };

// A list that is missed leaves its senders unlisted.
void require_target(const fs::directory_entry& entry) {
  std::error_code error;
  if (!entry.is_symlink(error)) return;
  struct stat status = {};
  if (stat(entry.path().c_str(), &status) == 0) return;
  throw system_error(ErrorCode::cannot_open, "open", entry.path().native(), errno);
}

std::vector<std::string> files_below(const std::string& folder, DeadLinks dead_links) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (is_hidden(at->path())) {
      at.disable_recursion_pending();
    } else if (std::error_code ignored; at->is_regular_file(ignored)) {
      files.push_back(at->path().native());
    } else if (dead_links == DeadLinks::refused) {
      require_target(*at);
    }
  }
  if (error) throw system_error(ErrorCode::cannot_open, "look into the folder", folder, error.value());
  if (files.empty()) {
    throw BloomgateError(ErrorCode::bad_input, "the folder " + folder + " holds no file; name one that holds lists",
                         {.path = folder});
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> files_of(const std::string& input, DeadLinks dead_links) {
  std::error_code error;
  return input != "-" && fs::is_directory(input, error) ? files_below(input, dead_links) : std::vector{input};
}

// Whether what is read from an input is then gone: a pipe, a terminal, or standard input that was read in part.
// /dev/null has nothing to lose.
bool is_stream(const std::string& input, struct stat& status) {
  const bool is_standard = input == "-";
  if ((is_standard ? fstat(STDIN_FILENO, &status) : stat(input.c_str(), &status)) != 0) return false;
  if (S_ISREG(status.st_mode)) return is_standard && lseek(STDIN_FILENO, 0, SEEK_CUR) != 0;
  struct stat null = {};
  const bool is_null = S_ISCHR(status.st_mode) && stat("/dev/null", &null) == 0 && status.st_rdev == null.st_rdev;
  return !S_ISDIR(status.st_mode) && !is_null;
}

TimedFile timed(std::string path, std::size_t source, bool named) {
  TimedFile file = {.path = std::move(path), .source = source, .named = named};
  struct stat status = {};
  if (file.path != "-" && stat(file.path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    file.bytes = static_cast<std::uint64_t>(status.st_size);
    file.changed = status.st_mtim;
  }
  return file;
}

}  // namespace

std::vector<std::string> list_files(const std::vector<std::string>& inputs) {
  require_separate_streams(inputs);
  std::vector<std::string> files;
  for (const std::string& input : inputs)
    std::ranges::move(files_of(input, DeadLinks::refused), std::back_inserter(files));
  return files;
}

void require_separate_streams(const std::vector<std::string>& inputs) {
  std::map<std::pair<dev_t, ino_t>, std::string> seen;
  for (const std::string& input : inputs) {
    struct stat status = {};
    if (!is_stream(input, status)) continue;
    const auto [earlier, is_new] = seen.try_emplace({status.st_dev, status.st_ino}, input);
    if (is_new) continue;
    const std::string what = earlier->second == input
                                 ? input + " is named twice, and can"
                                 : earlier->second + " and " + input + " are one stream, which can";
    throw UsageError(what + " be read only once; name it once, or put it into a file");
  }
}

std::vector<TimedFile> files_by_time(const std::vector<std::string>& sources, const SkipSource& skip) {
  if (!skip) require_separate_streams(sources);
  std::vector<TimedFile> files;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    try {
      for (std::string& path : files_of(sources[source], DeadLinks::skipped)) {
        const bool named = path == sources[source];
        files.push_back(timed(std::move(path), source, named));
      }
    } catch (const BloomgateError& error) {
      if (!skip) throw;
      skip(source, error);
    }
  }
  std::ranges::stable_sort(files, [](const TimedFile& a, const TimedFile& b) {
    return std::pair(a.changed.tv_sec, a.changed.tv_nsec) < std::pair(b.changed.tv_sec, b.changed.tv_nsec);
  });
  return files;
}

std::uint64_t total_bytes(const std::vector<TimedFile>& files) noexcept {
  std::uint64_t bytes = 0;
  for (const TimedFile& file : files) bytes += file.bytes;
  return bytes;
}

}  // namespace bloomgate
