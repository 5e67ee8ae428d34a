// `bloomgate export`: from a filter of the layout counting to the one that the daemon loads.
#include <sysexits.h>

#include <csignal>
#include <iostream>
#include <optional>
#include <utility>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/kept_output.hpp"
#include "filter/cli/commands/loss_limits.hpp"
#include "filter/cli/commands/made_filter.hpp"
#include "filter/cli/commands/message_rates.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/jobs/export_job.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

void print_export(const std::string& path, const FilterHeader& header) {
  std::cout << "built     " << path << '\n' << entries_text(header);
  std::cout << "\nsize      " << format_bytes(file_bytes(header)) << '\n' << rates_lines(header);
}

}  // namespace

int run_export(const Arguments& arguments) {
  std::vector<std::string> operands;
  std::string output;
  std::string sign_key;
  unsigned threads = default_threads();
  unsigned keep = 0;
  bool quiet = false;
  bool json = false;
  LossLimits limits;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&output)->required()->value_name("FILTER"),
       "where to put the filter; an old file is replaced once the new one is complete")  //
      ("keep", po::value(&keep)->default_value(0)->value_name("N"),
       "keep the filter that is replaced as FILTER.1, and up to N earlier ones; 'bloomgate rollback' puts it back")  //
      ("sign-key", po::value(&sign_key)->value_name("FILE"),
       "sign the filter with the secret key in FILE, as 'bloomgate sign' does")                             //
      ("threads", po::value(&threads)->value_name("N"), "use N threads (default: one for each processor)")  //
      ("quiet", po::bool_switch(&quiet), "show no progress");
  add_json(json, visible);
  limits.add_empty_to(visible);
  limits.add_shrink_to(visible);
  const auto values = parse_command_line(
      arguments, visible, &operands,
      {.synopsis = "bloomgate export FILE --output FILTER [OPTION...]",
       .purpose =
           "Makes the filter that the daemon loads from FILE, which was built with --layout counting: a quarter\n"
           "of the size, in the layout page. It is the filter that 'bloomgate build' makes of the same entries\n"
           "with the same seed and --expected-entries.",
       .examples = "  bloomgate export whitelist.counting --output /var/lib/bloomgate/whitelist.bloom --keep 3\n"});
  if (!values) return EX_OK;
  const std::string& path = only_filter(operands);
  checked_threads(threads);
  checked_keep(keep);
  if (are_same_place(path, output)) throw UsageError("--output would overwrite " + path);
  std::optional<SecretKey> key;
  if (!sign_key.empty()) key.emplace(SecretKey::read_from(sign_key));
  // The work goes on if nobody reads the progress or the report.
  std::signal(SIGPIPE, SIG_IGN);
  JobProgress progress(quiet);
  const FilterHeader header =
      ExportJob({path, output, keep, std::move(key), threads}, progress, stop_flag()).run([&](std::uint64_t entries) {
        if (auto refusal = limits.refusal_of(entries, output)) throw BloomgateError(std::move(*refusal));
      });
  json ? print_report(made_filter_json(output, header)) : print_export(output, header);
  return EX_OK;
}

}  // namespace bloomgate::cli
