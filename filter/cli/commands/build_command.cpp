// `bloomgate build`: from lists of addresses to a filter file.
#include <sysexits.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/cli/commands/build_arguments.hpp"
#include "filter/cli/commands/build_report.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/kept_output.hpp"
#include "filter/cli/progress.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/engine/builder.hpp"
#include "filter/ingest/blocks.hpp"
#include "filter/ingest/broad_domains.hpp"
#include "filter/ingest/except_list.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/jobs/add_entries.hpp"
#include "filter/jobs/change_lock.hpp"
#include "filter/jobs/open_lists.hpp"
#include "filter/jobs/store_inputs.hpp"
#include "filter/jobs/stranger_check.hpp"

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

std::unique_ptr<FilterBuilder> read_into_builder(OpenLists& lists, const BuildOptions& options,
                                                 const ExceptList& exceptions, const BroadDomains& broad_domains,
                                                 StrangerCheck& strangers, RejectLog& rejects, StoreInputs& stores) {
  auto builder = std::make_unique<FilterBuilder>(options);
  strangers.attach_to(*builder);
  rejects.add_excepted(stores.add_to(*builder, options.threads, exceptions, stop_flag()));
  add_entries(lists.blocks, *lists.format, *builder, options, exceptions, broad_domains, rejects);
  return builder;
}

}  // namespace

int run_build(const Arguments& arguments) {
  const std::optional<BuildArguments> command = parse_build_arguments(arguments, kBuildHelp);
  if (!command) return EX_OK;
  refuse_to_overwrite_inputs(*command);
  const std::atomic<bool>& stop = stop_flag();
  // The work goes on if nobody reads the progress or the report.
  std::signal(SIGPIPE, SIG_IGN);
  const auto start = std::chrono::steady_clock::now();

  OpenLists first(command->inputs, command->format, stop);
  std::optional<OpenLists> second;
  std::atomic<const OpenLists*> read_now{&first};  // null: writing
  WriteProgress written;
  const auto look = [&]() -> WorkState {
    const OpenLists* const lists = read_now;
    return lists == nullptr ? state_of(written) : state_of(*lists, *command->stores);
  };
  const Progress::Style style = command->quiet ? Progress::Style::none : Progress::style_for(STDERR_FILENO);
  Progress progress(style, look, Progress::interval_of(style));
  RejectLog rejects(command->reject_file, names_of(first.blocks), [&](std::string_view line) { progress.show(line); });

  if (!command->no_sender_domains && !command->options.sender_domains) {
    progress.show(
        "warning: a store among the inputs does not have the domains of its senders, so the filter is without them, "
        "and "
        "strangers at any domain may be found; build that store from its lists again");
  }
  const BroadDomains broad_domains =
      usual_broad_domains(command->broad_files, [&](std::string_view line) { progress.show(line); });
  const ExceptList exceptions(list_files(command->exceptions), command->options.profile, stop);
  BuildOptions options = command->options;
  std::optional<std::uint64_t> estimate;
  if (!options.expected_entries) {
    options.expected_entries = estimate = estimate_of_inputs(first, *command->stores, options.profile);
  }
  require_output(*command, options);
  if (const std::string cost = cost_of_sender_domains(*command, options); !cost.empty()) progress.show(cost);
  const std::optional<ChangeLock> lock = ChangeLock::if_there(options.store_path);
  const auto show = [&](std::string_view line) { progress.show(line); };
  options.kept_generations =
      generations_to_keep(command->output, options.store_path, command->keep, options.threads, show);
  StrangerCheck strangers(command->strangers, options, command->strict, show, stop);
  auto builder = read_into_builder(first, options, exceptions, broad_domains, strangers, rejects, *command->stores);
  if (estimate && is_estimate_off(*estimate, builder->addresses())) {
    // The samples were not like the rest. Now the number is known, and only a second run can size the filter as asked.
    options.expected_entries = builder->addresses();
    builder.reset();
    rejects.restart();
    read_now = &second.emplace(command->inputs, command->format, stop);
    builder = read_into_builder(*second, options, exceptions, broad_domains, strangers, rejects, *command->stores);
  }
  rejects.show_kinds();
  const std::uint64_t entries = builder->addresses() + builder->domains();
  if (auto refusal = refusal_of_lists(*command, LinesRead::of(rejects, *first.format), entries)) {
    rejects.keep();
    throw BloomgateError(std::move(*refusal));
  }
  read_now = nullptr;
  const FilterHeader header = builder->write(command->output, stop, written);
  rejects.keep();
  progress.stop();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_report(*command, {command->output, header, rejects.count(), rejects.excepted(), rejects.broad_counts(),
                          strangers.review(), builder->spilled_bytes(), elapsed.count(), command->options.store_path});
  return EX_OK;
}

}  // namespace bloomgate::cli
