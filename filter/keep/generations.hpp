// Earlier states of a filter, or of a folder of layers, kept beside it: FILE.1 is the last one, FILE.2 the one before,
// and so on; the same for FOLDER. Used by `bloomgate build --keep`, `add-layer --keep`, `fold-layers --keep`,
// `rollback` and `info`. A filter with its store: kept_pairs.hpp.
//
// Only names change here, by link(2) and rename(2): nothing is copied, and each filter is on the disk once. A kept
// folder has hard links to the layers: a layer that is still in use takes no further space. A daemon whose whitelist is
// FOLDER does not read kept folders. If the process ends at any moment, FILE is a whole filter, the old or the new one;
// FOLDER is whole; and so is each kept folder that has its name.
//
// Two processes must not use it at once on one FILE: each file would stay whole, but its number would be undefined.
// Call it with FOLDER locked, and with the path that own_path_of() returns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "filter/file/header_fields.hpp"

namespace bloomgate {

inline constexpr unsigned kMostGenerations = 99;

struct Generation {
  unsigned number = 0;  // from 1
  std::string path;
};

// FILE.NUMBER.
std::string generation_path(const std::string& path, unsigned number);

// The folder's path without links, dots and a slash at its end, so that a number can follow. Throws
// BloomgateError{cannot_open}.
std::string own_path_of(const std::string& folder);

// The existing generations, in the order of their numbers: files, or folders if there is a folder at `path`. There may
// be gaps. Cost: one stat(2) for each possible number.
std::vector<Generation> kept_generations(const std::string& path);

// Gives the file at `path` the further name FILE.1, and increments the numbers of those before it: up to the first gap,
// or to number `most`, whose file is removed. Also removes those past `most`. For a file that rename(2) will replace.
//
// For a folder, the layers, the manifest and the list of revoked senders get further names in FOLDER.1, and the numbers
// of the states before that increase up to `most` + 1. The oldest state stays until trim_generations(), so that nothing
// is lost if the change fails.
//
// Does nothing if there is no file or no layer, or if `most` is 0. Throws BloomgateError{cannot_open, cannot_write}
// with the remedy, and {bad_input}, before anything has changed, if trim_generations() would remove a folder that has
// something that is neither a layer nor belongs to layers.
void keep_generation(const std::string& path, unsigned most);

// The same, as a function that a writer calls before it replaces a file (NewFile::publish()).
std::function<void(const std::string& path)> keeping(unsigned most);

// Tests whether keep_generation() could do its work with the file at `path`; leaves nothing behind. Throws the same,
// and what require_may_replace() throws if one of the numbered names belongs to a file that does not begin with `own`.
void require_can_keep(const std::string& path, unsigned most, const Magic& own);

// Call it after the change of a folder: removes generations past number `most`.
void trim_generations(const std::string& folder, unsigned most);

// If FOLDER.1 has exactly the layers of FOLDER, it was kept for a change that was not made. Then removes it, and
// decrements the numbers of the others. Throws BloomgateError{cannot_write}.
void drop_unchanged_generation(const std::string& folder);

// Gives FOLDER.NUMBER the list of revoked senders that FOLDER has now, or removes it if FOLDER has none, so that a
// manifest can be written there before it replaces FOLDER. Throws as exchange_generation(), before anything has
// changed.
void bring_revoked(const std::string& folder, unsigned number);

// FILE.NUMBER and FILE exchange their names, in one step if the file system supports that (RENAME_EXCHANGE). So the
// same call undoes it. Otherwise it takes three steps for a file, and a crash may lose the name of the file that was
// replaced, but never FILE; for a folder it is an error. If there is nothing at `path`, it is a rename. Does not read
// the files. The list of revoked senders stays the one that FOLDER has now (bring_revoked()). Throws
// BloomgateError{cannot_open} if there is no such generation, {bad_input} if one of two folders has something that is
// neither a layer nor belongs to layers, {cannot_write}.
void exchange_generation(const std::string& path, unsigned number);

// How exchange_generation() exchanges files if the file system has no RENAME_EXCHANGE; public for tests. Returns 0 or
// an errno value.
int exchange_by_links(const std::string& a, const std::string& b);

}  // namespace bloomgate
