#include "filter/cli/configured_whitelist.hpp"

#include <fstream>
#include <string_view>

#include "filter/base/ascii.hpp"
#include "filter/base/usage_error.hpp"

namespace bloomgate::cli {

std::string usual_config_file() {
  return BLOOMGATE_CONFIG_FOLDER "/bloomgate-milter.conf";
}

ConfiguredWhitelist configured_whitelist(const std::string& config_file) {
  constexpr std::string_view kBlanks = " \t\r";
  std::ifstream file(config_file);
  ConfiguredWhitelist found;
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view name = ascii::trimmed(std::string_view(line).substr(0, equals), kBlanks);
    const std::string_view value = ascii::trimmed(std::string_view(line).substr(equals + 1), kBlanks);
    if ((name == "extra" || name == "revoked") && !value.empty()) found.beside.emplace_back(name);
    if (name != "whitelist") continue;
    if (!found.path.empty()) throw UsageError("name a filter file: " + config_file + " names several whitelists");
    found.path = value;
  }
  if (!file.eof())
    throw UsageError("name a filter file: the daemon's configuration " + config_file + " cannot be read");
  if (found.path.empty()) found.path = "/var/lib/bloomgate/whitelist.bloom";
  return found;
}

}  // namespace bloomgate::cli
