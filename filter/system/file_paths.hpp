// What paths lead to. Safe from any thread.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "filter/system/file_stamp.hpp"

namespace bloomgate {

// The folder that a file is in, as its path says; links are not followed.
inline std::string folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

// Whether both lead to one file, which is there.
inline bool is_same_file(const std::string& a, const std::string& b) noexcept {
  struct stat status_a = {};
  struct stat status_b = {};
  return stat(a.c_str(), &status_a) == 0 && stat(b.c_str(), &status_b) == 0 &&
         FileStamp(status_a).is_same_file(FileStamp(status_b));
}

// Whether what is written to one is found at the other: also where there is no file yet, if the paths are the same.
inline bool are_same_place(const std::string& a, const std::string& b) noexcept {
  return a == b || is_same_file(a, b);
}

// What the names of temporary files begin with that are made beside `path`: ".FILE" and `kind`. A number follows.
inline std::string hidden_prefix(const std::string& path, std::string_view kind) {
  return "." + std::filesystem::path(path).filename().string().append(kind);
}

// The paths of what has such a name in `folder`: `prefix`, and nothing but digits behind it. As many as can be read.
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
