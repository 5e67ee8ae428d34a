// This machine's name for itself, for where neither the configuration nor the mail server gives one.
#pragma once

#include <string>

namespace bloomgate {

// "localhost" where it has none that can stand in a header field.
std::string machine_name();

}  // namespace bloomgate
