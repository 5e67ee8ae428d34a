// `bloomgate-mpi build`: what `bloomgate build` does, by the ranks of an MPI job.
#include <sysexits.h>

#include <csignal>
#include <iostream>
#include <utility>

#include "filter/cli/commands/build_options.hpp"
#include "filter/cli/commands/build_report.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/mpi/commands.hpp"
#include "filter/cli/mpi/rank_text.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/mpi/build_job.hpp"

namespace bloomgate::cli {
namespace {

constexpr HelpText kRankBuildHelp = {
    .synopsis = "mpirun [-n RANKS] bloomgate-mpi build --output FILE [OPTION...] INPUT...",
    .purpose =
        "Builds by the ranks of an MPI job the very file that 'bloomgate build' makes of the same lists, options\n"
        "and seed. Each rank reads a share of the lists, which all of them must see at the same paths, or its\n"
        "own (--local-lists), and makes a range of the filter, and of its store. For the layouts page, line and "
        "ribbon.",
    .examples = "  mpirun -n 4 --host a,b,c,d bloomgate-mpi build --output whitelist.bloom /shared/lists/*.txt\n"};

}  // namespace

int run_build(mpi::Communicator& communicator, const Arguments& arguments) {
  mpi::RankOptions rank_options;
  auto command = parse_as_first(
      communicator, [&] { return parse_build_command(arguments, kRankBuildHelp, described(rank_options)); });
  if (!command) return EX_OK;
  JobProgress progress(command->quiet || communicator.rank() != 0);
  const BuildPlan plan(std::move(command->request), progress.warns());
  mpi::require_supported(plan);
  communicator.stop_at(stop_flag());
  std::signal(SIGPIPE, SIG_IGN);  // the work goes on if nobody reads the progress or the report
  if (const auto made = mpi::BuildJob({communicator, progress, stop_flag()}, plan, rank_options).run()) {
    print_report(made->result, command->json);
    if (!command->json) std::cout << ranks_text(made->notes, made->result.seconds);
  }
  return EX_OK;
}

}  // namespace bloomgate::cli
