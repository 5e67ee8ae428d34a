// Options as they were given, before their values are read: the words of the command line and the lines of the
// configuration file, each with its position. Used by daemon_options.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/config_error.hpp"

namespace bloomgate {

// An option's value as it was given, and where.
struct GivenValue {
  std::string text;
  ConfigPlace place;
};

// The values of each option, by the option's name. There are several, in the order in which they were given, only if
// the table allows that option to be repeated.
using GivenOptions = std::map<std::string, std::vector<GivenValue>, std::less<>>;

// The command line: its options, and its other words in their order.
struct GivenCommandLine {
  GivenOptions options;
  std::vector<std::string> words;
};

// The faults that both functions find: an option that the table does not have or does not allow in that place, and an
// option given twice that may be given only once. In a file, anything that is not an option is a fault, too.
// read_command_line() throws a config_error() for the first fault; read_config_file() puts all of them into `faults`.
GivenCommandLine read_command_line(const std::vector<std::string>& arguments);
GivenOptions read_config_file(const std::string& path, ConfigFaults& faults);

}  // namespace bloomgate
