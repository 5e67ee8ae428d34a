// `bloomgate-mpi build`: what `bloomgate build` does, by the ranks of an MPI job.
#pragma once

#include "filter/cli/command_line.hpp"
#include "filter/mpi/communicator.hpp"

namespace bloomgate::mpi {

// Collective. Returns the exit status, the same for all ranks. A failure that concerns all ranks alike, such as a bad
// option, is thrown in all of them before any work. Any later failure ends the job: the rank says why, and its exit
// status is that of `bloomgate build`.
int run_build(Communicator& communicator, const cli::Arguments& arguments);

}  // namespace bloomgate::mpi
