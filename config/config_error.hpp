// What is wrong with the configuration, and where: in a file, or on the command line. Thrown by daemon_options.hpp
// only; `what()` is a complete sentence for a person. It is a type of its own because this folder does not know
// filter/.
#pragma once

#include <stdexcept>
#include <string>

namespace bloomgate {

// Where an option was given. An empty path means the command line.
struct ConfigPlace {
  std::string path = {};
  unsigned line = 0;  // counted from 1; 0: the file as a whole
};

class ConfigError : public std::runtime_error {
 public:
  // `option` is its name without dashes, or empty if no single option is to blame. `fault` says what was expected
  // and what was found; place and option are put before it.
  ConfigError(ConfigPlace place, std::string option, const std::string& fault);

  const ConfigPlace& place() const noexcept { return place_; }
  const std::string& option() const noexcept { return option_; }
  bool on_command_line() const noexcept { return place_.path.empty(); }

 private:
  ConfigPlace place_;
  std::string option_;
};

}  // namespace bloomgate
