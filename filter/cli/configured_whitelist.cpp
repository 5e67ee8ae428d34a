#include "filter/cli/configured_whitelist.hpp"

#include <fstream>
#include <string_view>

#include "filter/base/ascii.hpp"
#include "filter/base/usage_error.hpp"

namespace bloomgate::cli {

std::string usual_config_file() {
  return BLOOMGATE_CONFIG_FOLDER "/bloomgate-milter.conf";
}

std::string configured_whitelist(const std::string& config_file) {
  constexpr std::string_view kBlanks = " \t\r";
  std::ifstream file(config_file);
  std::string found;
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || ascii::trimmed(std::string_view(line).substr(0, equals), kBlanks) != "whitelist")
      continue;
    if (!found.empty()) throw UsageError("name a filter file: " + config_file + " names several whitelists");
    found = ascii::trimmed(std::string_view(line).substr(equals + 1), kBlanks);
  }
  if (!file.eof())
    throw UsageError("name a filter file: the daemon's configuration " + config_file + " cannot be read");
  return found.empty() ? "/var/lib/bloomgate/whitelist.bloom" : found;
}

}  // namespace bloomgate::cli
