#include "filter/cli/mpi/failure.hpp"

#include <unistd.h>

#include <climits>
#include <iostream>
#include <string>

#include "filter/base/error.hpp"
#include "filter/cli/failure.hpp"
#include "filter/mpi/shared_section.hpp"

namespace bloomgate::cli {
namespace {

// A program runs one command.
std::string command_name;

void say(const mpi::Communicator& communicator, std::string_view what, FailureKind kind) {
  std::string host(HOST_NAME_MAX + 1, '\0');
  if (gethostname(host.data(), host.size() - 1) != 0) host = "?";
  if (kind == FailureKind::other) {
    // In one piece: other ranks and mpirun write to the same stream.
    std::cerr << "bloomgate-mpi " + command_name + ": rank " + std::to_string(communicator.rank()) + " on " +
                     host.c_str() + ": " + std::string(what) + "\n";
  } else if (communicator.rank() == 0) {
    std::cerr << "bloomgate-mpi " << command_name << ": " << what << "; 'bloomgate-mpi " << command_name
              << " --help' shows what it takes\n";
  }
}

}  // namespace

void say_failures_of(std::string_view command) {
  command_name = command;
}

int report_failure(const mpi::Communicator& communicator) noexcept {
  try {
    throw;
  } catch (const mpi::RankFailure& failure) {
    return failure.status;
  } catch (...) {
    const Failure failure = current_failure();
    // A job that ends, ends all ranks: one of them says so.
    const bool is_stop = failure.code == error_code_name(ErrorCode::interrupted);
    if (!is_stop || communicator.rank() == 0) say(communicator, failure.what, failure.kind);
    return failure.status;
  }
}

}  // namespace bloomgate::cli
