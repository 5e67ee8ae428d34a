// Functions for paths. Safe from any thread.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "filter/system/file_stamp.hpp"

namespace bloomgate {

// The folder in which a file is, by its path; links are not followed.
inline std::string folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

// Whether both are paths of one existing file.
inline bool is_same_file(const std::string& a, const std::string& b) noexcept {
  struct stat status_a = {};
  struct stat status_b = {};
  return stat(a.c_str(), &status_a) == 0 && stat(b.c_str(), &status_b) == 0 &&
         FileStamp(status_a).is_same_file(FileStamp(status_b));
}

// Whether a file written to one path is found at the other: also if there is no file yet, but the paths are the same.
inline bool are_same_place(const std::string& a, const std::string& b) noexcept {
  return a == b || is_same_file(a, b);
}

// The start of the names of temporary files beside `path`: ".FILE" and `kind`. A number follows.
inline std::string hidden_prefix(const std::string& path, std::string_view kind) {
  return "." + std::filesystem::path(path).filename().string().append(kind);
}

// The paths of the files in `folder` whose name is `prefix` followed by digits only. As many as can be read.
inline std::vector<std::string> numbered_files(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> found;
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool is_numbered = name.size() > prefix.size() && name.starts_with(prefix) &&
                             name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
    if (is_numbered) found.push_back(at->path().string());
  }
  return found;
}

}  // namespace bloomgate
