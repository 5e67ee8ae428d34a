// `bloomgate counting-add` and `counting-remove`: change a filter of the layout counting by lists.
#include <sysexits.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <optional>
#include <utility>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/build_options.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/inputs/store_inputs.hpp"
#include "filter/jobs/counting_job.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

bool adds(const CountingRequest& request) noexcept {
  return request.change == CountingChange::add;
}

void add_options(CountingRequest& request, FilterOptions& options, po::options_description& visible) {
  visible.add_options()  //
      ("format", po::value(&request.format)->default_value("text")->value_name("text|csv:COLUMN|postfix-map"),
       "how the lists are written, as for build")  //
      ("threads", po::value(&request.options.threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("memory", po::value(&options.memory)->value_name("M"),
       "working memory for the changes (default: 256M); what does not fit goes to disk")  //
      ("scratch", po::value(&options.scratch)->value_name("FOLDER"),
       "where to put what does not fit into memory (default: the folder of the filter)")                        //
      ("reject-file", po::value(&request.reject_file)->value_name("FILE"), "write all rejected lines to FILE")  //
      ("keep", po::value(&request.keep)->default_value(0)->value_name("N"),
       "keep the last N states of the file, the newest as FILE.1; 'bloomgate rollback' puts it back")  //
      ("strict", po::bool_switch(&request.is_strict),
       adds(request) ? "change nothing if any line is rejected" : "change nothing if any entry is not there");
  add_quiet(options.quiet, visible);
  add_json(options.json, visible);
  if (!adds(request)) {
    add_allow_empty(request.limits, visible);
    add_allow_shrink(request.limits, visible);
    return;
  }
  add_allow_rejects(request.limits, visible);
  add_broad_files(request.broad_files, visible);
}

constexpr HelpText kAddHelp = {
    .synopsis = "bloomgate counting-add FILE LIST... [OPTION...]",
    .purpose =
        "Adds the entries of lists to FILE, which was built with --layout counting. LIST is an input of build, but no "
        "store. An entry counts once for each command, however often the lists have it. An entry that FILE has "
        "already counts once more, and must be removed as often as it was added. After a change, 'bloomgate "
        "counting-export' makes the filter that the daemon loads.",
    .examples =
        "  bloomgate counting-add whitelist.counting new.txt\n"
        "  bloomgate counting-export whitelist.counting --output /var/lib/bloomgate/whitelist.bloom\n"};

constexpr HelpText kRemoveHelp = {
    .synopsis = "bloomgate counting-remove FILE LIST... [OPTION...]",
    .purpose =
        "Removes the entries of lists from FILE, which was built with --layout counting. LIST is an input of build, "
        "but no store. An entry that FILE does not have is reported, and the others are removed. But some addresses "
        "that were never added look as if FILE had them (their share is the false-positive rate). If you remove one, "
        "other entries vanish without notice. So remove only what was added. If you cannot be sure, keep a store "
        "(build --store), which 'bloomgate update-store' changes exactly.",
    .examples =
        "  bloomgate counting-remove whitelist.counting gone.txt --keep 3\n"
        "  bloomgate counting-export whitelist.counting --output /var/lib/bloomgate/whitelist.bloom\n"};

void refuse_to_overwrite(const CountingRequest& request) {
  const std::string& rejected = request.reject_file;
  for (const std::string& list : request.lists) {
    if (is_same_file(list, request.output)) throw UsageError(request.output + " is the filter, and cannot be a list");
    if (is_same_file(list, rejected)) throw UsageError("--reject-file would overwrite the list " + list);
  }
  if (are_same_place(rejected, request.output)) throw UsageError("--reject-file would overwrite " + request.output);
}

// Nothing given: --help was.
std::optional<FilterCommand<CountingRequest>> parse_change(const Arguments& arguments, CountingChange change) {
  CountingRequest request;
  request.change = change;
  FilterOptions options;
  std::vector<std::string> operands;
  po::options_description visible("options");
  add_options(request, options, visible);
  const auto values = parse_command_line(arguments, visible, &operands, adds(request) ? kAddHelp : kRemoveHelp);
  if (!values) return std::nullopt;
  if (operands.size() < 2) throw UsageError("name the filter, and then at least one list, or - for standard input");
  if (!is_filter(operands.front()) && std::any_of(operands.begin() + 1, operands.end(), is_filter)) {
    throw UsageError("name the counting filter first, then the lists");
  }
  request.output = operands.front();
  request.lists = list_files({operands.begin() + 1, operands.end()});
  refuse_to_overwrite(request);
  if (!StoreInputs(request.lists).empty()) {
    throw UsageError("a store cannot be a list here; 'bloomgate update-store' changes a store by lists, exactly");
  }
  options.read_into(request, *values);
  return FilterCommand<CountingRequest>{std::move(request), options.quiet, options.json};
}

void print_added(const CountingResult& report) {
  const CountingCounts& counts = report.counts;
  std::cout << "added     " << format_count(counts.addresses + counts.domains);
  if (counts.domains_there != 0) {
    std::cout << ", and " << format_counted(counts.domains_there, "domain entry was", "domain entries were")
              << " there already";
  }
  if (counts.looked_present != 0) {
    std::cout << "\nagain     " << format_count(counts.looked_present) << " of them were there already, or looked so ("
              << format_rate(expected_fpr_of(report.old))
              << " of new ones do); what was there must now be removed once more";
  }
}

void print_removed(const CountingResult& report) {
  const CountingCounts& counts = report.counts;
  std::cout << "removed   " << format_count(counts.addresses + counts.domains) << "\nnot there "
            << format_counted(report.not_there, "line", "lines");
  if (counts.addresses_not_there != 0) {
    std::cout << ", and "
              << format_counted(counts.addresses_not_there,
                                "address that shares counters with others of the lists: it was perhaps never added",
                                "addresses that share counters with others of the lists: some were never added");
  }
  if (counts.still_listed != 0) {
    std::cout << "\nlisted    " << format_count(counts.still_listed)
              << " of those that were removed are still found: they were added more than once, or look so";
  }
  std::cout << "\ncaution   " << format_rate(expected_fpr_of(report.old))
            << " of addresses that were never added look as if they were there. If one was removed, others are no "
               "longer listed; a store has no such danger (build --store, update-store)";
}

void print_change(const CountingRequest& request, const CountingResult& report) {
  const FilterHeader& header = report.header;
  std::cout << "changed   " << request.output << '\n';
  (adds(request) ? print_added : print_removed)(report);
  std::cout << "\nrejected  " << format_count(report.rejected) << '\n' << entries_text(header);
  std::cout << "\nsaturated " << format_count(header.saturated) << " of " << format_count(header.bits_set)
            << " counters in use\n"
            << rates_lines(header);
  if (report.spilled_bytes != 0) {
    std::cout << "spilled   " << format_bytes(report.spilled_bytes) << " to disk, for lack of memory\n";
  }
  std::cout << "time      " << format_decimal(report.seconds, 2) << " s\n";
}

void print_change_json(const CountingRequest& request, const CountingResult& report) {
  const CountingCounts& counts = report.counts;
  Json json = filter_json(request.output, report.header);
  const std::uint64_t changed = counts.addresses + counts.domains;
  if (adds(request)) {
    json["added"] = changed;
    json["looked_present"] = counts.looked_present;
    json["domains_there"] = counts.domains_there;
  } else {
    json["removed"] = changed;
    json["still_listed"] = counts.still_listed;
    json["not_there"] = report.not_there;
    json["counters_used_up"] = counts.addresses_not_there;
  }
  json.update(Json{{"rejected", report.rejected},
                   {"saturated", report.header.saturated},
                   {"spilled_bytes", report.spilled_bytes},
                   {"seconds", report.seconds}});
  print_report(json);
}

int run_change(const Arguments& arguments, CountingChange change) {
  const auto command = parse_change(arguments, change);
  if (!command) return EX_OK;
  // The work goes on if nobody reads the progress or the report.
  std::signal(SIGPIPE, SIG_IGN);
  JobProgress progress(command->quiet);
  const CountingResult result = change_counting_filter(command->request, progress, stop_flag());
  if (adds(command->request) && result.header.addresses > result.header.expected_entries) {
    std::cerr << "warning: " << command->request.output
              << " holds more addresses than it was built for, so the false-positive rate is higher: "
              << format_rate(expected_fpr_of(result.header)) << "; build it again with a greater --expected-entries\n";
  }
  if (command->reports()) (command->json ? print_change_json : print_change)(command->request, result);
  return EX_OK;
}

}  // namespace

int run_counting_add(const Arguments& arguments) {
  return run_change(arguments, CountingChange::add);
}

int run_counting_remove(const Arguments& arguments) {
  return run_change(arguments, CountingChange::remove);
}

}  // namespace bloomgate::cli
