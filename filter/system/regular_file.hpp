// How every file of ours is opened to be read: a filter, a store, a part, a secret key. Safe from any thread.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// Opens the file at the end of links, and never waits: a FIFO has no writer. `status` is of the open file. Throws
// BloomgateError: cannot_open, or not_a_regular_file with the advice to name `wanted` ("a filter file").
FileDescriptor open_regular_file(const std::string& path, std::string_view wanted, struct stat& status);

}  // namespace bloomgate
