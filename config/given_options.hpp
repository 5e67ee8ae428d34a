// Options as they were given, before their values are read: the words of the command line and the lines of the
// configuration file, each with its place. Used by daemon_options.cpp.
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

// By the option's name. Each has one value, or several in the order in which they were given if the table allows that.
using GivenOptions = std::map<std::string, std::vector<GivenValue>, std::less<>>;

// The command line: its options, and the other words, in their order.
struct GivenCommandLine {
  GivenOptions options;
  std::vector<std::string> words;
};

// Both have a config_error() for an option that the table does not have, or not in that place, and for an option given
// twice that may be given once; the file for anything that is not an option. The command line throws it; of the file
// `faults` has all.
GivenCommandLine read_command_line(const std::vector<std::string>& arguments);
GivenOptions read_config_file(const std::string& path, ConfigFaults& faults);

}  // namespace bloomgate
