#include "filter/cli/lists/files_by_time.hpp"

#include <algorithm>
#include <utility>

#include "filter/cli/lists/input_files.hpp"

namespace bloomgate::cli {

std::vector<TimedFile> files_by_time(const std::vector<std::string>& sources) {
  std::vector<TimedFile> files;
  for (const std::string& source : sources) {
    for (std::string& path : list_files({source})) {
      TimedFile file = {.path = std::move(path)};
      file.named = file.path == source;
      struct stat status = {};
      if (file.path != "-" && stat(file.path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
        file.bytes = static_cast<std::uint64_t>(status.st_size);
        file.changed = status.st_mtim;
      }
      files.push_back(std::move(file));
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

}  // namespace bloomgate::cli
