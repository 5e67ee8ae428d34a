// `bloomgate update`: from a store and lists of changes to a new store and its filter.
#include <sysexits.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/kept_output.hpp"
#include "filter/cli/commands/update_arguments.hpp"
#include "filter/cli/commands/update_report.hpp"
#include "filter/cli/progress.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/engine/store_update.hpp"
#include "filter/ingest/broad_domains.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/jobs/add_entries.hpp"
#include "filter/jobs/change_lock.hpp"
#include "filter/jobs/open_lists.hpp"
#include "filter/jobs/store_inputs.hpp"
#include "filter/jobs/stranger_check.hpp"

namespace bloomgate::cli {
namespace {

constexpr HelpText kUpdateHelp = {
    .synopsis = "bloomgate update --store FILE --output FILE [--add LIST]... [--remove LIST]... [OPTION...]",
    .purpose =
        "Changes a store by lists, exactly, and makes the filter that goes with it, with another seed. LIST is\n"
        "what is an input of build. Whatever happens, what is there afterwards is the old pair or the new one.",
    .examples =
        "  bloomgate update --store whitelist.store --output whitelist.bloom --add new.txt --remove gone.txt\n"
        "  bloomgate update --store partner.store --new-store ours.store --output ours.bloom --add ours.txt\n"};

// Lists of changes on their way into an update.
struct Changes {
  Changes(std::vector<std::string> files, const std::string& format, const StoreFile& old)
      : stores(files), lists(files, format, stop_flag()) {
    if (!stores.empty()) require_one_shape(old, *stores.stores().front());
  }

  WorkState state() const { return state_of(lists, stores); }

  StoreInputs stores;
  OpenLists lists;
};

void read_changes(Changes& changes, GatheredEntries& entries, const BuildOptions& options,
                  const BroadDomains& broad_domains, RejectLog& rejects) {
  changes.stores.add_to(entries, options.threads, {}, stop_flag());
  add_entries(changes.lists.blocks, *changes.lists.format, entries, options, {}, broad_domains, rejects);
}

}  // namespace

int run_update(const Arguments& arguments) {
  std::optional<UpdateArguments> command = parse_update_arguments(arguments, kUpdateHelp);
  if (!command) return EX_OK;
  refuse_to_overwrite_inputs(*command);
  choose_shape(*command);
  const std::atomic<bool>& stop = stop_flag();
  // The work goes on if nobody reads the progress or the report.
  std::signal(SIGPIPE, SIG_IGN);
  const auto start = std::chrono::steady_clock::now();
  require_outputs(*command);

  const ChangeLock lock(command->store);
  const std::unique_ptr<StoreFile> old = open_old_store(*command);
  const std::string lack = choose_sender_domains(*command, *old);
  Changes add(command->add, command->format, *old);
  Changes remove(command->remove, command->format, *old);
  BuildOptions options = StoreUpdate::options_for(*old, command->options);
  std::atomic<const Changes*> read_now{&add};  // null: writing
  WriteProgress written;
  const auto look = [&]() -> WorkState {
    const Changes* const changes = read_now;
    return changes == nullptr ? state_of(written) : changes->state();
  };
  const Progress::Style style = command->quiet ? Progress::Style::none : Progress::style_for(STDERR_FILENO);
  Progress progress(style, look, Progress::interval_of(style));
  const auto show = [&](std::string_view line) { progress.show(line); };
  if (!lack.empty()) show(lack);
  RejectLog rejected_of_add("", names_of(add.lists.blocks), show);
  RejectLog rejected_of_remove("", names_of(remove.lists.blocks), show);
  options.kept_generations =
      generations_to_keep(command->output, command->store_path(), command->keep, options.threads, show);
  StrangerCheck strangers(command->strangers, options, command->strict, show, stop_flag());
  StoreUpdate update(*old, options);
  strangers.attach_to(update);
  read_changes(add, update.added(), options, usual_broad_domains(command->broad_files, show), rejected_of_add);
  read_now = &remove;
  read_changes(remove, update.removed(), options, {}, rejected_of_remove);
  rejected_of_add.show_kinds();
  rejected_of_remove.show_kinds();
  require_lines(*command, LinesRead::of(rejected_of_add, *add.lists.format), rejected_of_remove.count());
  read_now = nullptr;
  const UpdateCounts counts = update.count(stop);
  require_entries_left(*command, old->header(), counts);
  const FilterHeader header = update.write(command->output, stop, written);
  progress.stop();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_report(
      {*command, header, counts, rejected_of_add.count(), strangers.review(), update.spilled_bytes(), elapsed.count()});
  return EX_OK;
}

}  // namespace bloomgate::cli
