// Earlier filters, kept beside the one in use: FILE.1 is the last one, FILE.2 the one before, and so on. Used by
// `bloomgate build --keep`, `rollback` and `info`.
//
// Only names change here, by link(2) and rename(2): nothing is copied, and a filter is on the disk once. However the
// process ends, FILE is a whole filter, the one before or the one after. Not for two processes at once on one FILE:
// each file stays whole, but which number it gets is open.
#pragma once

#include <string>
#include <vector>

namespace bloomgate {

inline constexpr unsigned kMostGenerations = 99;

struct Generation {
  unsigned number = 0;  // from 1
  std::string path;
};

// FILE.NUMBER.
std::string generation_path(const std::string& path, unsigned number);

// Those that are there, in the order of their numbers: files, or folders if there is a folder at `path`
// (kept_folders.hpp). There may be gaps. Cost: one stat(2) for each possible number.
std::vector<Generation> kept_generations(const std::string& path);

// Gives the file at `path` the further name FILE.1, and moves those before it on by one: up to the first gap, or to
// number `most`, whose file goes. Also removes those past `most`. Nothing happens if there is no file. For a file that
// is about to be replaced by rename(2). Throws BloomgateError{cannot_write}.
void keep_generation(const std::string& path, unsigned most);

// Tries whether keep_generation() could do its work; leaves nothing behind. Throws the same.
void require_can_keep(const std::string& path);

// Puts FILE.NUMBER at `path`, and what was there at FILE.NUMBER, in one step if the file system can do that
// (RENAME_EXCHANGE). So the same call undoes it. Elsewhere it takes three steps, and a crash may lose the name of the
// file that was replaced, but never FILE. If there is no file at `path`, it is a rename. Does not look at what is in
// the files. Throws BloomgateError{cannot_open} if there is no such generation, {cannot_write}.
void exchange_generation(const std::string& path, unsigned number);

// What exchange_generation() does if the file system has no RENAME_EXCHANGE; here for tests. Returns 0 or an errno
// value.
int exchange_by_links(const std::string& a, const std::string& b);

}  // namespace bloomgate
