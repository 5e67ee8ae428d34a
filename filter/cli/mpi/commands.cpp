// `bloomgate-mpi build` and `update-store`: what `bloomgate build` and `update-store` do, by the ranks of an MPI job.
#include "filter/cli/mpi/commands.hpp"

#include <sysexits.h>

#include <csignal>
#include <iostream>
#include <optional>
#include <utility>

#include "filter/base/number_text.hpp"
#include "filter/cli/commands/build_options.hpp"
#include "filter/cli/commands/build_report.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/mpi/build_job.hpp"
#include "filter/mpi/update_job.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr HelpText kRankBuildHelp = {
    .synopsis = "mpirun [-n RANKS] bloomgate-mpi build --output FILE [OPTION...] INPUT...",
    .purpose =
        "Builds by the ranks of an MPI job the very file that 'bloomgate build' makes of the same lists, options\n"
        "and seed. Each rank reads a share of the lists, which all of them must see at the same paths, or its\n"
        "own (--local-lists), and makes a range of the filter, and of its store. For the layouts page, line and "
        "ribbon.",
    .examples = "  mpirun -n 4 --host a,b,c,d bloomgate-mpi build --output whitelist.bloom /shared/lists/*.txt\n"};

constexpr HelpText kRankUpdateHelp = {
    .synopsis =
        "mpirun [-n RANKS] bloomgate-mpi update-store --store FILE --output FILE [--add LIST]... [--remove LIST]... "
        "[OPTION...]",
    .purpose =
        "Makes by the ranks of an MPI job the very pair that 'bloomgate update-store' makes of the same store, lists,\n"
        "options and seed. All ranks must see the store at the same path. Each reads a share of the lists, which all\n"
        "must see at the same paths, or its own (--local-lists), and a range of the store. For the layouts page, line\n"
        "and ribbon.",
    .examples =
        "  mpirun -n 4 --host a,b,c,d bloomgate-mpi update-store --store /shared/whitelist.store \\\n"
        "      --output whitelist.bloom --add /shared/new.txt --remove /shared/gone.txt\n"};

// The options that this program has besides, stored by the parser.
po::options_description described(mpi::RankOptions& rank_options) {
  po::options_description options;
  options.add_options()  //
      ("local-lists", po::bool_switch(&rank_options.local_lists),
       "each rank reads all of the lists that it is given, which no other rank has")  //
      ("rank-0-writes", po::bool_switch(&rank_options.only_first_writes),
       "rank 0 writes the parts of all ranks, also where these could write them themselves");
  return options;
}

// The command line is the same for all ranks, and rank 0 speaks for all about it.
template <typename Parse>
auto parse_as_first(const mpi::Communicator& communicator, Parse parse) {
  if (communicator.rank() != 0) std::cout.setstate(std::ios::failbit);
  auto command = parse();
  std::cout.clear();
  return command;
}

// What rank 0 has made; for a person also who wrote, and what the exchange took of the time.
template <typename Result>
void print_made(const std::optional<mpi::MadeByRanks<Result>>& made, bool json) {
  if (!made) return;
  print_report(made->result, json);
  if (json) return;
  const mpi::RankNotes& notes = made->notes;
  std::cout << "written   by " << notes.writers << " of " << notes.ranks << " ranks\nexchanged "
            << format_bytes(notes.sent_bytes) << " between " << notes.ranks << " ranks; rank 0 waited for it "
            << static_cast<int>(100 * notes.waited / made->result.seconds + 0.5) << " % of the time\n";
}

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
  std::signal(SIGPIPE, SIG_IGN);  // the work continues without a reader of its progress and report
  auto made = mpi::BuildJob({communicator, progress, stop_flag()}, plan, rank_options).run();
  if (made) made->result.manifest = manifest_writer(plan, progress.warns()).write();
  if (made) warn_of_rate(made->result, "the lists hold");
  if (command->reports()) print_made(made, command->json);
  return EX_OK;
}

int run_update(mpi::Communicator& communicator, const Arguments& arguments) {
  mpi::RankOptions rank_options;
  auto command = parse_as_first(
      communicator, [&] { return parse_update_command(arguments, kRankUpdateHelp, described(rank_options)); });
  if (!command) return EX_OK;
  JobProgress progress(command->quiet || communicator.rank() != 0);
  const FilterRequest request = command->request;
  mpi::UpdateJob job({communicator, progress, stop_flag()}, std::move(command->request), rank_options);
  communicator.stop_at(stop_flag());
  std::signal(SIGPIPE, SIG_IGN);  // the work continues without a reader of its progress and report
  auto made = job.run();
  if (made) made->result.manifest = manifest_writer(request, progress.warns()).write();
  if (made) warn_of_rate(made->result, "the store holds");
  if (command->reports()) print_made(made, command->json);
  return EX_OK;
}

}  // namespace bloomgate::cli
