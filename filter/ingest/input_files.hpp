// The lists that a command line names: a folder stands for the files in it. Pure except for looking at the disk.
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
// bytes. Leaves out names that start with a dot, and does not follow links to folders. Files and `-` stay as they are.
// Throws BloomgateError: cannot_open if something is missing or cannot be read, bad_input for a folder without a file,
// since an empty list is rarely what was meant.
std::vector<std::string> list_files(const std::vector<std::string>& inputs);

struct TimedFile {
  std::string path;
  std::size_t source = 0;   // which one of those that were named it is, or is in
  bool named = true;        // it is that source itself, and was not found in a folder
  std::uint64_t bytes = 0;  // of a regular file
  timespec changed = {.tv_sec = std::numeric_limits<time_t>::max(), .tv_nsec = 0};  // standard input comes last
};

// The same files in the order in which they were written, for what goes on from one to the next: rotated logs keep the
// time of their last line. Throws what list_files() throws; with `skip`, that is called instead with the
// source's place, and the source has no files. What is missing shows when it is opened.
using SkipSource = std::function<void(std::size_t source, const BloomgateError& error)>;
std::vector<TimedFile> files_by_time(const std::vector<std::string>& sources, const SkipSource& skip = {});

std::uint64_t total_bytes(const std::vector<TimedFile>& files) noexcept;

}  // namespace bloomgate
