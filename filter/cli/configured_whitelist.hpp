// The whitelist that the daemon of this machine serves, for commands that name none. Safe from any thread.
#pragma once

#include <string>
#include <vector>

namespace bloomgate::cli {

// Where the daemon's configuration is, unless it is told otherwise.
std::string usual_config_file();

struct ConfiguredWhitelist {
  std::string path;                      // the value of `whitelist`, or where the daemon looks without one
  std::vector<std::string> beside = {};  // of the lists extra and revoked, those that the daemon also asks
};

// Throws UsageError if the file cannot be read, or names several whitelists.
ConfiguredWhitelist configured_whitelist(const std::string& config_file);

}  // namespace bloomgate::cli
