// The whitelist that the daemon of this machine serves, for commands that name none. Safe from any thread.
#pragma once

#include <string>

namespace bloomgate::cli {

// Where the daemon's configuration is, unless it is told otherwise.
std::string usual_config_file();

// The value of `whitelist` in that file, or where the daemon looks without one. Throws UsageError if the file cannot be
// read, or names several whitelists.
std::string configured_whitelist(const std::string& config_file);

}  // namespace bloomgate::cli
