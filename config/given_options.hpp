// Options as they were given, before anything is known of their meaning: the words of the command line and the lines of
// the configuration file, each with its place. Used by daemon_options.cpp.
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

// By the option's name. One value each, more for those that the table lets be repeated, in the order in which they were
// given.
using GivenOptions = std::map<std::string, std::vector<GivenValue>, std::less<>>;

// Both throw ConfigError: for options that the table does not have, or not in that place; for those given twice that it
// wants once; and for what is not an option at all.
GivenOptions read_command_line(const std::vector<std::string>& arguments);
GivenOptions read_config_file(const std::string& path);

}  // namespace bloomgate
