// The lists that a command line names: a folder stands for the files in it. Pure, except that it reads the disk.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "filter/base/error.hpp"

namespace bloomgate {

// `inputs` with every folder replaced by the regular files in it and in the folders below it, in the order of their
// bytes. Omits names that start with a dot, and does not follow links to folders. Files and `-` stay as they are.
// Throws BloomgateError: cannot_open if something is missing or cannot be read, also for a link in a folder that leads
// nowhere; bad_input for a folder without a file, since an empty list is rarely intended. Throws what
// require_separate_streams() throws.
std::vector<std::string> list_files(const std::vector<std::string>& inputs);

// Throws UsageError if two of these are one pipe, terminal or socket: each would have a part of its lines. Call it with
// the inputs of all options together.
void require_separate_streams(const std::vector<std::string>& inputs);

struct TimedFile {
  std::string path;
  std::size_t source = 0;   // the number of the source that it is, or in which it was found
  bool named = true;        // it is that source itself, and was not found in a folder
  std::uint64_t bytes = 0;  // of a regular file
  timespec changed = {.tv_sec = std::numeric_limits<time_t>::max(), .tv_nsec = 0};  // standard input comes last
};

// The same files in the order in which they were written, for input that continues from one file to the next: rotated
// logs keep the time of their last line. Skips links in folders that lead nowhere. Throws what list_files() throws.
// With `skip`, it calls `skip` instead, with the number of the source, which then has no files. A missing file shows
// when it is opened.
using SkipSource = std::function<void(std::size_t source, const BloomgateError& error)>;
std::vector<TimedFile> files_by_time(const std::vector<std::string>& sources, const SkipSource& skip = {});

std::uint64_t total_bytes(const std::vector<TimedFile>& files) noexcept;

}  // namespace bloomgate
