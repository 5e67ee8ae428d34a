// What a person asked for in words that make no sense: an option's value, a pattern, a time.
#pragma once

#include <stdexcept>

namespace bloomgate {

// main() prints it with a pointer to the command's --help, and exits with EX_USAGE.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bloomgate
