// A temporary file that nobody else can open. It is gone when it is closed, however the process ends. Safe from any
// thread.
#pragma once

#include <string>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// Opens one in `folder`, to read and write. If that fails, the object is not open and errno says why. Throws
// std::bad_alloc.
FileDescriptor unnamed_file(const std::string& folder);

}  // namespace bloomgate
