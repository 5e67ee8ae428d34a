// `bloomgate update-store`: from a store and lists of changes to a new store and its filter.
#include <sysexits.h>

#include <csignal>
#include <utility>

#include "filter/cli/commands/build_options.hpp"
#include "filter/cli/commands/build_report.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/jobs/update_job.hpp"

namespace bloomgate::cli {
namespace {

constexpr HelpText kUpdateHelp = {
    .synopsis = "bloomgate update-store --store FILE --output FILE [--add LIST]... [--remove LIST]... [OPTION...]",
    .purpose =
        "Changes a store by lists, exactly, and makes the filter that goes with it, with another seed. LIST may be any "
        "input of build. Whatever happens, the files are afterwards the old pair or the new one.",
    .examples =
        "  bloomgate update-store --store whitelist.store --output whitelist.bloom --add new.txt --remove gone.txt\n"
        "  bloomgate update-store --store partner.store --new-store ours.store --output ours.bloom --add ours.txt\n"};

}  // namespace

int run_update_store(const Arguments& arguments) {
  auto command = parse_update_command(arguments, kUpdateHelp);
  if (!command) return EX_OK;
  // The work goes on if nobody reads the progress or the report.
  std::signal(SIGPIPE, SIG_IGN);
  JobProgress progress(command->quiet);
  const ManifestWriter manifest = manifest_writer(command->request, progress.warns());
  UpdateResult result = update_store(std::move(command->request), progress, stop_flag());
  result.manifest = manifest.write();
  warn_of_rate(result, "the store holds");
  if (command->reports()) print_report(result, command->json);
  return EX_OK;
}

}  // namespace bloomgate::cli
