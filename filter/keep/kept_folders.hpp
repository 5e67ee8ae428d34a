// Earlier states of a folder of layers, kept beside it as folders of their own: FOLDER.1 has the layers as they were
// before the last change, FOLDER.2 before the one before that. Used by `bloomgate append --keep`, `fold --keep`,
// `rollback` and `info`.
//
// A kept folder holds hard links to the layers: a layer that is still in use takes no room. A daemon whose whitelist is
// FOLDER does not look into it. However the process ends, FOLDER is whole, and so is each kept folder that has its
// name. Call with FOLDER locked, and with its path as own_path_of() gives it.
#pragma once

#include <string>

namespace bloomgate {

// The folder's path without links, dots and a slash at its end, so that a number can follow. Throws
// BloomgateError{cannot_open}.
std::string own_path_of(const std::string& folder);

// Gives the layers of the folder further names in FOLDER.1, and moves the folders before it on by one: up to the first
// gap, or to number `most` + 1. The oldest one stays until trim_kept_folders(), so that a change that fails costs
// nothing. Nothing happens where the folder has no layer, or `most` is 0. Throws BloomgateError{cannot_open,
// cannot_write} with the remedy.
void keep_layers(const std::string& folder, unsigned most);

// After the change: removes the kept folders past number `most`.
void trim_kept_folders(const std::string& folder, unsigned most);

// As long as FOLDER.1 has the very layers of FOLDER, takes it away, and moves the others back by one: it was kept for a
// change that was not made. Throws BloomgateError{cannot_write}.
void drop_unchanged_folder(const std::string& folder);

// FOLDER.NUMBER and FOLDER exchange their names in one step. So the same call undoes it, and whoever looks sees the one
// or the other. Throws BloomgateError{cannot_open} if there is no such folder, {bad_input} if one of the two holds
// something that is no layer, {cannot_write}. Does not look at what is in the layers.
void exchange_kept_folder(const std::string& folder, unsigned number);

}  // namespace bloomgate
