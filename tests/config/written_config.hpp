// A configuration file of a test.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/daemon_options.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {

// Reads a configuration file of that text, and a command line beside it.
class Config {
 public:
  explicit Config(std::string_view text) { write_file(path(), text); }

  std::string path() const { return folder_.file("test.conf"); }

  DaemonCommand read(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"--config", path()});
    return read_daemon_command(arguments);
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace bloomgate::test
