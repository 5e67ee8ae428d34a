// `bloomgate build`: from lists of addresses to a filter file.
#include <sysexits.h>

#include <csignal>
#include <utility>

#include "filter/cli/commands/build_options.hpp"
#include "filter/cli/commands/build_report.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/jobs/build_job.hpp"

namespace bloomgate::cli {
namespace {

constexpr HelpText kBuildHelp = {
    .synopsis = "bloomgate build --output FILE [OPTION...] INPUT...",
    .purpose =
        "Builds a filter from lists: one address, @domain or @.domain (the domain and all below it) per line;\n"
        "or 'SENDER > RECIPIENT', which lists the sender for that recipient only; or a mailing list, list:HOST;\n"
        "or 'ENTRY signed-by DOMAIN', where that domain signs the mail. # starts a comment. INPUT is a file, a\n"
        "folder of files, or - for standard input; gzip, zstd, xz and bzip2 are recognised by their content.\n"
        "INPUT can also be a store.",
    .examples =
        "  bloomgate build --output /var/lib/bloomgate/whitelist.bloom customers.txt partners.txt\n"
        "  bloomgate build --output whitelist.bloom --bits-per-entry 16 --hashes 11 lists/ partners.txt.gz\n"};

}  // namespace

int run_build(const Arguments& arguments) {
  auto command = parse_build_command(arguments, kBuildHelp);
  if (!command) return EX_OK;
  // The work goes on if nobody reads the progress or the report.
  std::signal(SIGPIPE, SIG_IGN);
  JobProgress progress(command->quiet);
  const ManifestWriter manifest = manifest_writer(command->request, progress.warns());
  BuildResult result = build_from_lists(std::move(command->request), progress, stop_flag());
  result.manifest = manifest.write();
  warn_of_rate(result, "the lists hold");
  if (command->reports()) print_report(result, command->json);
  return EX_OK;
}

}  // namespace bloomgate::cli
