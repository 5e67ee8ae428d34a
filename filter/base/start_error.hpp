// Why the daemon cannot start, where neither the configuration (ConfigError) nor the whitelist (BloomgateError) is to
// blame. `what()` is a sentence for a person.
#pragma once

#include <stdexcept>
#include <string>

namespace bloomgate {

class StartError : public std::runtime_error {
 public:
  // `exit_status` is one of sysexits(3).
  StartError(int exit_status, const std::string& what) : std::runtime_error(what), exit_status_(exit_status) {}

  int exit_status() const noexcept { return exit_status_; }

 private:
  int exit_status_;
};

}  // namespace bloomgate
