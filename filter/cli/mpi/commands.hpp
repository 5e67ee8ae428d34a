// The subcommands of the program `bloomgate-mpi`. Called by main.cpp.
#pragma once

#include "filter/cli/command_line.hpp"
#include "filter/mpi/communicator.hpp"

namespace bloomgate::cli {

// Collective. Return the exit status, the same for all ranks. A failure that concerns all ranks alike, such as a bad
// option, is thrown in all of them before any work. Any later failure ends the job: the rank says why, and its exit
// status is that of `bloomgate build` or `update-store`.
int run_build(mpi::Communicator& communicator, const Arguments& arguments);
int run_update(mpi::Communicator& communicator, const Arguments& arguments);

}  // namespace bloomgate::cli
