// `bloomgate counting-export`: from a filter of the layout counting to the one that the daemon loads.
#include <sysexits.h>

#include <csignal>
#include <iostream>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/build_options.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/manifest_text.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/jobs/counting_job.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

void print_export(const std::string& path, const FilterHeader& header, const std::optional<WrittenManifest>& written) {
  std::cout << "built     " << path << '\n' << entries_text(header);
  std::cout << "\nsize      " << format_bytes(file_bytes(header)) << '\n' << rates_lines(header);
  print_written("manifest  ", written);
}

void print_export_json(const std::string& path, const FilterHeader& header,
                       const std::optional<WrittenManifest>& written) {
  Json json = filter_json(path, header);
  json["manifest"] = written_json(written);
  print_report(json);
}

}  // namespace

int run_counting_export(const Arguments& arguments) {
  std::vector<std::string> operands;
  FilterRequest request;
  FilterOptions options;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&request.output)->required()->value_name("FILTER"),
       "where to put the filter; an old file is replaced once the new one is complete")  //
      ("keep", po::value(&request.keep)->default_value(0)->value_name("N"),
       "keep the last N filters that were replaced, the newest as FILTER.1; 'bloomgate rollback' puts it back")  //
      ("sign-key", po::value(&options.sign_key)->value_name("FILE"),
       "sign the filter with the secret key in FILE, as 'bloomgate sign' does, and write the manifest")  //
      ("threads", po::value(&request.options.threads)->value_name("N"),
       "use N threads (default: one for each processor)");
  add_quiet(options.quiet, visible);
  add_json(options.json, visible);
  add_allow_empty(request.limits, visible);
  add_allow_shrink(request.limits, visible);
  const auto values = parse_command_line(
      arguments, visible, &operands,
      {.synopsis = "bloomgate counting-export FILE --output FILTER [OPTION...]",
       .purpose =
           "Makes from FILE, which was built with --layout counting, the filter that the daemon loads: a quarter\n"
           "of the size, in the layout page. It is the filter that 'bloomgate build' makes of the same entries\n"
           "with the same seed and --expected-entries.",
       .examples =
           "  bloomgate counting-export whitelist.counting --output /var/lib/bloomgate/whitelist.bloom --keep 3\n"});
  if (!values) return EX_OK;
  const std::string& path = only_filter(operands);
  options.read_into(request, *values);
  if (are_same_place(path, request.output)) throw UsageError("--output would overwrite " + path);
  // The work goes on if nobody reads the progress or the report.
  std::signal(SIGPIPE, SIG_IGN);
  JobProgress progress(options.quiet);
  const ManifestWriter manifest = manifest_writer(request, progress.warns());
  const FilterHeader header = export_counting_filter(path, request, progress, stop_flag());
  const std::optional<WrittenManifest> written = manifest.write();
  if (!options.reports()) return EX_OK;
  options.json ? print_export_json(request.output, header, written) : print_export(request.output, header, written);
  return EX_OK;
}

}  // namespace bloomgate::cli
