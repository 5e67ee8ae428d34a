#include "filter/ingest/files_by_time.hpp"

#include <algorithm>
#include <utility>

#include "filter/ingest/input_files.hpp"

namespace bloomgate {

namespace {

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
