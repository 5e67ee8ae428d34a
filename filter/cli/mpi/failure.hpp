// What a rank says when it fails.
#pragma once

#include <string_view>

#include "filter/mpi/communicator.hpp"

namespace bloomgate::cli {

// What the messages call the command of this program. Before there are other threads.
void say_failures_of(std::string_view command);

// Says on standard error what the current exception is, and which rank has met it. Returns the exit status for it. Says
// nothing of a RankFailure, whose rank has done so, and of the end of a job that another rank has begun.
int report_failure(const mpi::Communicator& communicator) noexcept;

}  // namespace bloomgate::cli
