// Commands that are programs of their own, beside `bloomgate`: those whose libraries take longer to load than most
// other commands take to run.
#pragma once

#include <string_view>

#include "filter/cli/command_line.hpp"

namespace bloomgate::cli {

// Becomes the program `bloomgate-NAME` with the same process number, and returns only by an exception: BloomgateError
// (cannot_open) where there is no such program in the folder of this one, nor in BLOOMGATE_PROGRAM_FOLDER, which is
// relative to that folder.
[[noreturn]] void become_program(std::string_view name, const Arguments& arguments);

}  // namespace bloomgate::cli
