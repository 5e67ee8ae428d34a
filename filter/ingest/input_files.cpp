#include "filter/ingest/input_files.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) {
  return path.filename().native().starts_with('.');
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (is_hidden(at->path())) {
      at.disable_recursion_pending();
    } else if (std::error_code ignored; at->is_regular_file(ignored)) {
      files.push_back(at->path().native());
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
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (input != "-" && fs::is_directory(input, error)) {
      std::ranges::move(files_below(input), std::back_inserter(files));
    } else {
      files.push_back(input);
    }
  }
  return files;
}

std::vector<TimedFile> files_by_time(const std::vector<std::string>& sources, const SkipSource& skip) {
  std::vector<TimedFile> files;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    try {
      for (std::string& path : list_files({sources[source]})) {
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
