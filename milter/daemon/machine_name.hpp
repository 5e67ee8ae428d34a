// This machine's name for itself, used if neither the configuration nor the mail server gives one.
#pragma once

#include <string>

namespace bloomgate {

// "localhost" if it has no name that can be in a header field.
std::string machine_name();

}  // namespace bloomgate
