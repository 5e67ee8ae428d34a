// `bloomgate-mpi update`: what `bloomgate update` does, by the ranks of an MPI job.
#pragma once

#include "filter/cli/command_line.hpp"
#include "filter/mpi/communicator.hpp"

namespace bloomgate::mpi {

// Collective. Returns the exit status, and throws and fails, as run_build() does; the exit status of a failure is that
// of `bloomgate update`.
int run_update(Communicator& communicator, const cli::Arguments& arguments);

}  // namespace bloomgate::mpi
