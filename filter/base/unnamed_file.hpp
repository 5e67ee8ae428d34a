// A temporary file that nobody else can open and that is gone when it is closed, whatever the process dies of. Safe
// from any thread.
#pragma once

#include <string>

#include "filter/base/file_descriptor.hpp"

namespace bloomgate {

// To read and write, in `folder`. One that is not open where there can be none; then errno says why. Throws
// std::bad_alloc.
FileDescriptor unnamed_file(const std::string& folder);

}  // namespace bloomgate
