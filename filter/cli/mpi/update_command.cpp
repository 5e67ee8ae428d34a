// `bloomgate-mpi update`: what `bloomgate update` does, by the ranks of an MPI job.
#include <sysexits.h>

#include <csignal>
#include <iostream>
#include <utility>

#include "filter/cli/commands/update_options.hpp"
#include "filter/cli/commands/update_report.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/mpi/commands.hpp"
#include "filter/cli/mpi/rank_text.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/mpi/update_job.hpp"

namespace bloomgate::cli {
namespace {

constexpr HelpText kRankUpdateHelp = {
    .synopsis =
        "mpirun [-n RANKS] bloomgate-mpi update --store FILE --output FILE [--add LIST]... [--remove LIST]... "
        "[OPTION...]",
    .purpose =
        "Makes by the ranks of an MPI job the very pair that 'bloomgate update' makes of the same store, lists,\n"
        "options and seed. All ranks must see the store at the same path. Each reads a share of the lists, which all\n"
        "must see at the same paths, or its own (--local-lists), and a range of the store. For the layouts page, line\n"
        "and ribbon.",
    .examples =
        "  mpirun -n 4 --host a,b,c,d bloomgate-mpi update --store /shared/whitelist.store \\\n"
        "      --output whitelist.bloom --add /shared/new.txt --remove /shared/gone.txt\n"};

}  // namespace

int run_update(mpi::Communicator& communicator, const Arguments& arguments) {
  mpi::RankOptions rank_options;
  auto command = parse_as_first(
      communicator, [&] { return parse_update_command(arguments, kRankUpdateHelp, described(rank_options)); });
  if (!command) return EX_OK;
  JobProgress progress(command->quiet || communicator.rank() != 0);
  mpi::UpdateJob job({communicator, progress, stop_flag()}, std::move(command->request), rank_options);
  communicator.stop_at(stop_flag());
  std::signal(SIGPIPE, SIG_IGN);  // the work goes on if nobody reads the progress or the report
  if (const auto made = job.run()) {
    print_report(made->result, command->json);
    if (!command->json) std::cout << ranks_text(made->notes, made->result.seconds);
  }
  return EX_OK;
}

}  // namespace bloomgate::cli
