// Earlier states of a filter, or of a folder of layers, kept beside it: FILE.1 is the last one, FILE.2 the one before,
// and so on; the same for FOLDER. Used by `bloomgate build --keep`, `append --keep`, `fold --keep`, `rollback` and
// `info`. A filter with its store: kept_pairs.hpp.
//
// Only names change here, by link(2) and rename(2): nothing is copied, and a filter is on the disk once. A kept folder
// holds hard links to the layers: a layer that is still in use takes no room. A daemon whose whitelist is FOLDER does
// not look into it. However the process ends, FILE is a whole filter, the one before or the one after, FOLDER is whole,
// and so is each kept folder that has its name.
//
// Not for two processes at once on one FILE: each file stays whole, but which number it gets is open. Call with FOLDER
// locked, and with its path as own_path_of() gives it.
#pragma once

#include <functional>
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

// The folder's path without links, dots and a slash at its end, so that a number can follow. Throws
// BloomgateError{cannot_open}.
std::string own_path_of(const std::string& folder);

// Those that are there, in the order of their numbers: files, or folders if there is a folder at `path`. There may be
// gaps. Cost: one stat(2) for each possible number.
std::vector<Generation> kept_generations(const std::string& path);

// Gives the file at `path` the further name FILE.1, and moves those before it on by one: up to the first gap, or to
// number `most`, whose file goes. Also removes those past `most`. For a file that is about to be replaced by rename(2).
//
// Of a folder the layers, the manifest and the list of what is revoked get further names in FOLDER.1, and the states
// before that are moved up to number `most` + 1: the oldest one stays until trim_generations(), so that a change that
// fails costs nothing.
//
// Nothing happens if there is no file or no layer, or `most` is 0. Throws BloomgateError{cannot_open, cannot_write}
// with the remedy.
void keep_generation(const std::string& path, unsigned most);

// The same, for a writer to do before it replaces a file (NewFile::publish()).
std::function<void(const std::string& path)> keeping(unsigned most);

// Tries whether keep_generation() could do its work with the file at `path`; leaves nothing behind. Throws the same.
void require_can_keep(const std::string& path);

// After the change of a folder: removes what is kept past number `most`.
void trim_generations(const std::string& folder, unsigned most);

// As long as FOLDER.1 has the very layers of FOLDER, takes it away, and moves the others back by one: it was kept for a
// change that was not made. Throws BloomgateError{cannot_write}.
void drop_unchanged_generation(const std::string& folder);

// Gives FOLDER.NUMBER the list of what is revoked that FOLDER has now, or none if it has none: so that a manifest can
// be written there before it takes the place of FOLDER. Throws BloomgateError{cannot_open, cannot_write}.
void bring_revoked(const std::string& folder, unsigned number);

// FILE.NUMBER and FILE exchange their names, in one step if the file system can do that (RENAME_EXCHANGE). So the same
// call undoes it. Elsewhere it takes three steps for a file, and a crash may lose the name of the file that was
// replaced, but never FILE; for a folder it is an error. If there is nothing at `path`, it is a rename. Does not look
// at what is in the files. The list of what is revoked stays the one that FOLDER has now (bring_revoked()). Throws
// BloomgateError{cannot_open} if there is no such generation, {bad_input} if one of two folders holds something that is
// no layer and does not go with layers, {cannot_write}.
void exchange_generation(const std::string& path, unsigned number);

// What exchange_generation() does with files if the file system has no RENAME_EXCHANGE; here for tests. Returns 0 or an
// errno value.
int exchange_by_links(const std::string& a, const std::string& b);

}  // namespace bloomgate
