// What bloomgate-milter was told to do: its command line and its configuration file, read, checked and merged. Called
// by milter/main.cpp once, before anything else; the result is a plain value.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "config/config_error.hpp"
#include "config/socket_address.hpp"

namespace bloomgate {

enum class Mode { enforce, observe };
enum class LogTarget { standard_error, syslog, journal };
enum class LogLevel { error, warning, info, debug };

// One member for each option of the table (option_table.hpp) that a file may have; the defaults are there, not here.
struct DaemonOptions {
  SocketAddress socket;
  mode_t socket_mode;
  std::string socket_group;  // empty: leave it as it is
  std::string whitelist;
  bool allow_missing_whitelist;
  Mode mode;
  std::string host_name;  // empty: the mail server's word for it
  bool lock_memory;
  LogTarget log_target;
  LogLevel log_level;
};

struct DaemonCommand {
  enum class Action { run, check_config, help, version };

  Action action = Action::run;
  std::string config_path;     // the file that was read
  DaemonOptions options = {};  // not filled in for help and version, which read no file
};

// Reads the command line (`arguments` without the program's name) and the configuration file that it names, or the
// default one. The command line goes before the file. Throws ConfigError for an unknown option, an option given twice
// in one place, a value that cannot be used, and a file that cannot be read: there is no running without a file, but
// /dev/null will do.
DaemonCommand read_daemon_command(const std::vector<std::string>& arguments);

// Whether `name` can stand as a host's name in a header field: 1 to 255 letters, digits, dots, hyphens and underscores,
// or an address literal's colons and brackets.
bool is_host_name(std::string_view name) noexcept;

}  // namespace bloomgate
