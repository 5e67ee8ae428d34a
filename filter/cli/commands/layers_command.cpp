// `bloomgate add-layer` and `fold-layers`: make the layers of a folder.
#include <sysexits.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <utility>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/build_options.hpp"
#include "filter/cli/commands/build_report.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/manifest_text.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/jobs/layer_job.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

const HelpText kAppendHelp = {
    .synopsis = "bloomgate add-layer FOLDER [OPTION...] INPUT...",
    .purpose =
        "Builds the next layer of a folder of filters (0001.bloom, 0002.bloom, ...) from lists, as build makes a "
        "filter. The new layer gets half of the false-positive rate that the others leave below the bound, so the sum "
        "of all layers stays below it. A daemon whose whitelist is the folder loads the layer at once.",
    .examples =
        "  bloomgate add-layer /var/lib/bloomgate/layers new-customers.txt\n"
        "  bloomgate add-layer /var/lib/bloomgate/layers --fpr 4% 2026-11-20.txt.zst\n"};

const HelpText kFoldHelp = {
    .synopsis = "bloomgate fold-layers FOLDER [OPTION...] [INPUT...]",
    .purpose =
        "Replaces all layers by one. With lists or stores, the new layer has the entries of these, and no others. "
        "Without, it is the union of the layers, which must have one shape, as for merge. No entry is missing at any "
        "moment: first the new layer replaces the first one, then the others are removed.",
    .examples = "  bloomgate fold-layers /var/lib/bloomgate/layers lists/\n"};

void add_options_of_layers(ListBuildOptions& options, po::options_description& visible) {
  visible.add_options()(
      "keep", po::value(&options.asked.keep)->default_value(0)->value_name("N"),
      "keep the last N states of the folder, the newest as FOLDER.1; 'bloomgate rollback' puts it back");
  options.shape.add_layout_name_to(visible);
  options.add_to(visible);
}

// The first operand is the folder.
LayerRequest request_of(const ListBuildOptions& options, const po::variables_map& values,
                        const std::vector<std::string>& operands) {
  LayerRequest request = {.folder = operands.front(), .build = options.request(values)};
  request.build.inputs.assign(operands.begin() + 1, operands.end());
  if (!layout_rules(request.build.options.layout).why_not_asked().empty()) {
    throw UsageError("--layout " + options.shape.layout +
                     " does not go with layers: the daemon does not load a counting filter; choose another layout");
  }
  return request;
}

// A union has no other options.
void refuse_options_of_build(const po::variables_map& values, const po::options_description& visible) {
  for (const auto& option : visible.options()) {
    const std::string& name = option->long_name();
    constexpr std::array<std::string_view, 6> kOfUnions = {"keep", "sign-key", "list-name", "holds", "quiet", "json"};
    if (std::ranges::find(kOfUnions, name) != kOfUnions.end() || !is_given(values, name.c_str())) continue;
    throw UsageError("--" + name + " is for a build from lists; name lists or stores, or leave it out");
  }
}

void report_no_layer(const std::optional<WrittenManifest>& manifest, bool json) {
  if (json) {
    print_report({{"file", nullptr}, {"entries", 0}, {"manifest", written_json(manifest)}});
  } else {
    std::cout << "no layer was made: the lists hold no entries\n";
    print_written("manifest  ", manifest);
  }
}

}  // namespace

int run_add_layer(const Arguments& arguments) {
  std::vector<std::string> operands;
  std::string bound;
  ListBuildOptions options;
  po::options_description visible("options");
  visible.add_options()("fpr", po::value(&bound)->value_name("P"),
                        "the bound of the false-positive rate of all layers together, such as 4% or 0.04 (default: "
                        "twice the rate of the worst layer; 4.3% for a new folder)");
  add_options_of_layers(options, visible);
  const auto values = parse_command_line(arguments, visible, &operands, kAppendHelp);
  if (!values) return EX_OK;
  if (operands.size() < 2) throw UsageError("name a folder, and at least one list, or - for standard input");
  LayerRequest request = request_of(options, *values, operands);
  if (!bound.empty()) request.bound = parse_rate(bound, "--fpr");
  std::signal(SIGPIPE, SIG_IGN);  // as for build
  JobProgress progress(options.quiet);
  LayerJob job(std::move(request), progress, stop_flag());
  const std::optional<BuildResult> result = job.append();
  if (result) warn_of_rate(*result, "the lists hold");
  if (!options.reports()) return EX_OK;
  result ? print_report(*result, options.json) : report_no_layer(job.manifest(), options.json);
  return EX_OK;
}

int run_fold_layers(const Arguments& arguments) {
  std::vector<std::string> operands;
  ListBuildOptions options;
  po::options_description visible("options");
  options.add_size_to(visible);
  add_options_of_layers(options, visible);
  add_allow_shrink(options.asked.limits, visible);
  const auto values = parse_command_line(arguments, visible, &operands, kFoldHelp);
  if (!values) return EX_OK;
  if (operands.empty()) throw UsageError("name a folder");
  if (operands.size() == 1) refuse_options_of_build(*values, visible);
  LayerRequest request = request_of(options, *values, operands);
  std::signal(SIGPIPE, SIG_IGN);  // as for build
  JobProgress progress(options.quiet);
  LayerJob job(std::move(request), progress, stop_flag());
  const FoldResult result = job.fold();
  if (result.built) warn_of_rate(*result.built, "the lists hold");
  if (!options.reports()) return EX_OK;
  if (result.built) {
    print_report(*result.built, options.json);
  } else if (options.json) {
    Json report = filter_json(result.output, MappedFilter(result.output).header());
    report["folded"] = result.layers;
    report["manifest"] = written_json(job.manifest());
    print_report(report);
  } else {
    std::cout << "folded     " << format_counted(result.layers, "layer", "layers") << " into " << result.output << '\n';
    print_written("manifest   ", job.manifest());
  }
  return EX_OK;
}

}  // namespace bloomgate::cli
