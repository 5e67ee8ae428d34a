// `bloomgate pull`. Called by main.cpp.
#pragma once

#include "filter/cli/command_line.hpp"

namespace bloomgate::cli {

// Gets the arguments behind the command's name and returns the exit status. Throws UsageError, BloomgateError and
// std::bad_alloc.
int run_pull(const Arguments& arguments);

}  // namespace bloomgate::cli
