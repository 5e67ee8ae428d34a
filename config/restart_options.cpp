#include "config/restart_options.hpp"

namespace bloomgate {

std::vector<std::string_view> changed_restart_options(const DaemonOptions& in_use, const DaemonOptions& wanted) {
  std::vector<std::string_view> names;
  if (!(in_use.socket == wanted.socket)) names.emplace_back("socket");
  if (in_use.socket_mode != wanted.socket_mode) names.emplace_back("socket-mode");
  if (in_use.socket_group != wanted.socket_group) names.emplace_back("socket-group");
  if (in_use.log_target != wanted.log_target) names.emplace_back("log-target");
  if (in_use.burst_file != wanted.burst_file) names.emplace_back("burst-file");
  if (in_use.suspend_file != wanted.suspend_file) names.emplace_back("suspend-file");
  if (!(in_use.metrics == wanted.metrics)) names.emplace_back("metrics");
  if (in_use.history_file != wanted.history_file) names.emplace_back("history-file");
  if (!(in_use.lookup_socket == wanted.lookup_socket)) names.emplace_back("lookup-socket");
  if (in_use.lookup_messages != wanted.lookup_messages) names.emplace_back("lookup-messages");
  if (in_use.lookup_token != wanted.lookup_token) names.emplace_back("lookup-token");
  return names;
}

}  // namespace bloomgate
