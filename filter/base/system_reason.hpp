// Why the system refused a file, for a person: its own message, and what that message leaves open. Safe from any
// thread.
#pragma once

#include <string>

#include "filter/base/error.hpp"

namespace bloomgate {

// "Permission denied; the user nobody may not enter the folder /srv/lists": the message of `errno_value`, and then the
// part of `path` that is to blame, or what to do. `code` tells whether the file was to be written. Looks at the path.
std::string system_reason(ErrorCode code, const std::string& path, int errno_value);

}  // namespace bloomgate
