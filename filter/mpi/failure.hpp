// What a rank says when it fails.
#pragma once

#include "filter/mpi/communicator.hpp"

namespace bloomgate::mpi {

// Says on standard error what the current exception is, and which rank has met it. Returns the exit status for it. Says
// nothing of a RankFailure, whose rank has done so, and of the end of a job that another rank has begun.
int report_failure(const Communicator& communicator) noexcept;

}  // namespace bloomgate::mpi
