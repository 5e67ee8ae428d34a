// The lists that a command line names: a folder stands for the files in it. Pure except for looking at the disk.
#pragma once

#include <string>
#include <vector>

namespace bloomgate {

// `inputs` with every folder replaced by the regular files in it and in the folders below it, in the order of their
// bytes. Leaves out names that start with a dot, and does not follow links to folders. Files and `-` stay as they are.
// Throws BloomgateError: cannot_open if something is missing or cannot be read, bad_input for a folder without a file,
// since an empty list is rarely what was meant.
std::vector<std::string> list_files(const std::vector<std::string>& inputs);

}  // namespace bloomgate
