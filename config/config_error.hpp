// What is wrong with the configuration, and where: in a file, or on the command line.
#pragma once

#include <string>

#include "filter/base/error.hpp"

namespace bloomgate {

// Where an option was given. An empty path means the command line.
struct ConfigPlace {
  std::string path = {};
  unsigned line = 0;  // counted from 1; 0: the file as a whole
};

// The error to throw: bad_argument on the command line, else bad_configuration with the path. `option` is its name
// without dashes, or empty if no single option is to blame. `fault` says what was expected and what was found; place
// and option are put before it.
BloomgateError config_error(const ConfigPlace& place, const std::string& option, const std::string& fault);

}  // namespace bloomgate
