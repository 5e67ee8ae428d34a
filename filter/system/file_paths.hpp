// What paths lead to. Safe from any thread.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

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

}  // namespace bloomgate
