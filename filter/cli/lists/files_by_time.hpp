// The files of a command line in the order in which they were written, for what goes on from one to the next: rotated
// logs keep the time of their last line. Pure except for looking at the disk.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace bloomgate::cli {

struct TimedFile {
  std::string path;
  bool named = true;        // on the command line, and not found in a folder
  std::uint64_t bytes = 0;  // of a regular file
  timespec changed = {.tv_sec = std::numeric_limits<time_t>::max(), .tv_nsec = 0};  // standard input comes last
};

// Folders stand for the files in them. Throws what list_files() throws. What is missing shows when it is opened.
std::vector<TimedFile> files_by_time(const std::vector<std::string>& sources);

std::uint64_t total_bytes(const std::vector<TimedFile>& files) noexcept;

}  // namespace bloomgate::cli
