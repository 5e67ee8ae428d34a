// `bloomgate update`: from a store and lists of changes to a new store and its filter.
#include <sysexits.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "filter/base/error.hpp"
#include "filter/base/file_paths.hpp"
#include "filter/build/store_update.hpp"
#include "filter/cli/commands/bits_of_filter.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/kept_output.hpp"
#include "filter/cli/commands/known_strangers_text.hpp"
#include "filter/cli/commands/message_rates.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/commands/shape_options.hpp"
#include "filter/cli/lists/add_entries.hpp"
#include "filter/cli/lists/broad_domains.hpp"
#include "filter/cli/lists/change_lock.hpp"
#include "filter/cli/lists/input_files.hpp"
#include "filter/cli/lists/list_options.hpp"
#include "filter/cli/lists/progress_states.hpp"
#include "filter/cli/lists/reject_log.hpp"
#include "filter/cli/lists/store_inputs.hpp"
#include "filter/cli/lists/stranger_check.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/cli/progress.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/output_check.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

struct UpdateCommand {
  std::string output;
  std::string store;
  std::string new_store;  // empty: in the place of the old one
  std::vector<std::string> add;
  std::vector<std::string> remove;
  std::vector<std::string> strangers;
  std::string format;
  std::string expected_entries;
  std::string seed;
  std::string memory;
  std::string free_mail_domains;
  std::string sign_key;
  unsigned keep = 0;
  bool strict = false;
  bool quiet = false;
  bool json = false;
  ShapeOptions shape;
  BuildOptions options;

  bool is_in_place() const noexcept { return new_store.empty(); }
  const std::string& store_path() const noexcept { return is_in_place() ? store : new_store; }
};

void add_options(UpdateCommand& command, po::options_description& visible) {
  visible.add_options()  //
      ("store", po::value(&command.store)->required()->value_name("FILE"),
       "the store to change; it is replaced together with its filter")  //
      ("output,o", po::value(&command.output)->required()->value_name("FILE"),
       "the filter of the store, which is replaced; with --new-store, where to put a filter")  //
      ("add", po::value(&command.add)->composing()->value_name("LIST"),
       "add the entries of LIST; may be given several times")  //
      ("remove", po::value(&command.remove)->composing()->value_name("LIST"),
       "remove the entries of LIST, also those that are added; may be given several times")  //
      ("not", po::value(&command.strangers)->composing()->value_name("LIST"),
       "never take the addresses of LIST, a text list, for listed, unless they are entries; may be given several "
       "times")  //
      ("new-store", po::value(&command.new_store)->value_name("FILE"),
       "put the new store there, and leave the old one as it is")  //
      ("bits-per-entry", po::value(&command.options.bits_per_entry)->value_name("B"),
       "size of the filter: 1 to 64 bits for each address (default: as the old filter, or 8)")  //
      ("hashes", po::value(&command.options.hashes)->value_name("K"),
       "bits set for each address: 1 to 32 (default: as the old filter, or 6)")  //
      ("expected-entries", po::value(&command.expected_entries)->value_name("N"),
       "size the filter for N addresses (default: the number in the new store)")  //
      ("seed", po::value(&command.seed)->value_name("N"),
       "seed of the filter; the store keeps its own (default: random)")  //
      ("format", po::value(&command.format)->default_value("text")->value_name("FORMAT"),
       "how the lists are written, as for build")  //
      ("threads", po::value(&command.options.threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("memory", po::value(&command.memory)->value_name("M"),
       "working memory for the changes (default: 256M); what does not fit goes to disk")  //
      ("scratch", po::value(&command.options.scratch_folder)->value_name("FOLDER"),
       "where to put what does not fit into memory (default: the folder of the filter)")  //
      ("free-mail-domains", po::value(&command.free_mail_domains)->value_name("FILE"),
       "warn of @domain entries for these free-mail domains (default: " BLOOMGATE_CONFIG_FOLDER
       "/free-mail-domains.txt)")  //
      ("keep", po::value(&command.keep)->default_value(0)->value_name("N"),
       "keep the filter and the store that are replaced as FILE.1, and up to N earlier pairs; 'bloomgate rollback' "
       "puts "
       "them back")  //
      ("sign-key", po::value(&command.sign_key)->value_name("FILE"),
       "sign the filter with the secret key in FILE, as 'bloomgate sign' does")  //
      ("strict", po::bool_switch(&command.strict),
       "fail if any line of --add or --not is rejected, or an entry among --not")                             //
      ("quiet", po::bool_switch(&command.quiet), "show no progress; warnings and bad lines are still shown")  //
      ("json", po::bool_switch(&command.json), "print the report as JSON, for scripts");
  command.shape.add_layout_to(visible);
}

// The shape that the options ask for, and where they do not, that of the old filter.
void choose_shape(UpdateCommand& command, const po::variables_map& values) {
  std::error_code error;
  BuildOptions& options = command.options;
  const bool has_layout = !values["layout"].defaulted();
  if (has_layout || values.count("block-bytes") != 0) {
    options.layout = command.shape.chosen_layout();
    options.block_bytes = command.shape.chosen_block_bytes();
  }
  if (std::filesystem::exists(command.output, error)) {
    const FilterHeader old = MappedFilter(command.output).header();
    if (values.count("bits-per-entry") == 0) options.bits_per_entry = bits_per_entry_of(old);
    if (!has_layout && values.count("block-bytes") == 0) {
      options.layout = old.shape.layout;
      options.block_bytes = old.shape.block_bytes;
    }
    if (values.count("hashes") == 0 && options.layout == old.shape.layout) options.hashes = old.shape.hashes;
  }
  if (values.count("hashes") == 0) {
    options.hashes = std::min(options.hashes, layout_rules(options.layout).most_hashes());
  }
}

// A typing mistake must not cost the operator a list.
void refuse_to_overwrite_inputs(const UpdateCommand& command) {
  if (are_same_place(command.output, command.store)) throw UsageError("--store and --output are the same file");
  if (!command.is_in_place() && are_same_place(command.new_store, command.store)) {
    throw UsageError("--new-store and --store are the same file; leave --new-store out");
  }
  if (!command.is_in_place() && are_same_place(command.new_store, command.output)) {
    throw UsageError("--new-store and --output are the same file");
  }
  for (const std::vector<std::string>* lists : {&command.add, &command.remove, &command.strangers}) {
    for (const std::string& list : *lists) {
      if (are_same_place(list, command.output)) throw UsageError("--output would overwrite the list " + list);
      if (are_same_place(list, command.store_path())) throw UsageError("the store would overwrite the list " + list);
    }
  }
}

// Nothing given: --help was.
std::optional<UpdateCommand> parse(const Arguments& arguments) {
  UpdateCommand command;
  po::options_description visible("options");
  add_options(command, visible);
  const auto values = parse_command_line(
      arguments, visible, nullptr,
      {.synopsis = "bloomgate update --store FILE --output FILE [--add LIST]... [--remove LIST]... [OPTION...]",
       .purpose =
           "Changes a store by lists, exactly, and makes the filter that goes with it, with another seed. LIST is\n"
           "what is an input of build. Whatever happens, what is there afterwards is the old pair or the new one.",
       .examples =
           "  bloomgate update --store whitelist.store --output whitelist.bloom --add new.txt --remove gone.txt\n"
           "  bloomgate update --store partner.store --new-store ours.store --output ours.bloom --add ours.txt\n"});
  if (!values) return std::nullopt;
  BuildOptions& options = command.options;
  options.store_path = command.store_path();
  options.seed = command.seed.empty() ? random_seed() : parse_seed(command.seed, "--seed");
  if (!command.expected_entries.empty()) {
    options.expected_entries = parse_count(command.expected_entries, "--expected-entries");
  }
  if (values->count("threads") == 0) options.threads = default_threads();
  checked_threads(options.threads);
  checked_keep(command.keep);
  if (!command.sign_key.empty()) {
    options.sign_key = std::make_shared<const SecretKey>(SecretKey::read_from(command.sign_key));
  }
  options.memory_bytes = parse_bytes(command.memory.empty() ? "256M" : command.memory, "--memory");
  if (values->count("scratch") == 0) options.scratch_folder = folder_of(command.output);
  command.add = list_files(command.add);
  command.remove = list_files(command.remove);
  command.strangers = list_files(command.strangers);
  refuse_to_overwrite_inputs(command);
  choose_shape(command, *values);
  return command;
}

// In its place, a store is changed only together with its filter: another filter would lose its store.
std::unique_ptr<StoreFile> open_old(const UpdateCommand& command) {
  if (!command.is_in_place()) return std::make_unique<StoreFile>(command.store);
  if (access(command.output.c_str(), F_OK) != 0) {
    throw UsageError(command.output + " is not there; name the filter of " + command.store +
                     " in --output, or with --new-store where to put a new pair");
  }
  const FilterHeader old = MappedFilter(command.output).header();
  if (old.strangers.known != 0 && command.strangers.empty()) {
    throw BloomgateError(ErrorCode::bad_argument,
                         command.output +
                             " keeps known strangers out, and has no list of them: with another seed they might pass. "
                             "Name their lists with --not",
                         {.path = command.output});
  }
  return open_store(command.store, old.store_identity, command.output);
}

// Lists of changes on their way into an update.
struct Changes {
  Changes(std::vector<std::string> files, const std::string& format, const StoreFile& old)
      : stores(files), lists(files, format) {
    if (!stores.empty()) require_one_shape(old, *stores.stores().front());
  }

  Progress::State state() const { return state_of(lists, stores); }

  StoreInputs stores;
  OpenLists lists;
};

void read_changes(Changes& changes, GatheredEntries& entries, const BuildOptions& options,
                  const BroadDomains& broad_domains, RejectLog& rejects) {
  changes.stores.add_to(entries, options.threads, {}, stop_flag());
  add_entries(changes.lists.blocks, *changes.lists.format, entries, options, {}, broad_domains, rejects);
}

struct Report {
  const UpdateCommand& command;
  FilterHeader header;
  UpdateCounts counts;
  std::uint64_t rejected;
  StrangerReview strangers;
  std::uint64_t spilled_bytes;
  double seconds;
};

void print_text(const Report& report) {
  const FilterHeader& header = report.header;
  const UpdateCounts& counts = report.counts;
  const std::string& store = report.command.store_path();
  std::cout << "built     " << report.command.output << "\nstore     " << store << ", "
            << format_bytes(std::filesystem::file_size(store)) << '\n'
            << entries_text(header);
  std::cout << "\nadded     " << format_count(counts.added);
  if (counts.already_there != 0)
    std::cout << ", " << format_count(counts.already_there) << " others were there already";
  std::cout << "\nremoved   " << format_count(counts.removed);
  if (counts.not_there != 0) std::cout << ", " << format_count(counts.not_there) << " others were not there";
  if (counts.both != 0) {
    std::cout << "\nboth      " << format_count(counts.both)
              << " were to be added and to be removed, and are not listed";
  }
  const double fpr = expected_fpr_of(header);
  std::cout << "\nrejected  " << format_count(report.rejected);
  print_strangers(header, report.strangers);
  std::cout << "\nsize      " << format_bytes(file_bytes(header)) << "\nseed      " << format_seed(header.shape.seed)
            << "\nFPR       " << format_rate(fpr) << " for a look-up\nmessages  "
            << message_rates_text(fpr_of_sender(header)) << "\ntime      " << format_decimal(report.seconds, 2)
            << " s\n";
}

void print_json(const Report& report) {
  const FilterHeader& header = report.header;
  const std::string& store = report.command.store_path();
  const double fpr = expected_fpr_of(header);
  using Json = nlohmann::ordered_json;
  Json strangers = known_strangers_json(header);
  strangers["rejected"] = report.strangers.rejected;
  // Seeds are strings: many readers of JSON keep 53 bits of a number only.
  const Json json = {
      {"file", report.command.output},
      {"store", store},
      {"entries", entries_of(header)},
      {"addresses", header.addresses},
      {"domain_entries", header.domains},
      {"pairs", pairs_json(header.pairs)},
      {"added", report.counts.added},
      {"already_there", report.counts.already_there},
      {"removed", report.counts.removed},
      {"not_there", report.counts.not_there},
      {"both", report.counts.both},
      {"rejected", report.rejected},
      {"known_strangers", strangers},
      {"file_bytes", file_bytes(header)},
      {"store_bytes", std::filesystem::file_size(store)},
      {"seed", format_seed(header.shape.seed)},
      {"store_seed", format_seed(*header.shape.store_seed)},
      {"fpr", fpr},
      {"fpr_either", either_fpr(fpr_of_sender(header))},
      {"fpr_both", both_fpr(fpr_of_sender(header))},
      {"spilled_bytes", report.spilled_bytes},
      {"seconds", report.seconds},
  };
  print_report(json);
}

// Whoever is to be removed by a line that cannot be read would stay listed.
void require_entries(const RejectLog& added, const RejectLog& removed, bool is_strict) {
  if (removed.count() != 0) {
    throw BloomgateError(ErrorCode::bad_input,
                         format_count(removed.count()) +
                             " lines of --remove were rejected, so that whom they name would stay "
                             "listed; correct them; nothing was changed");
  }
  if (is_strict && added.count() != 0) {
    throw BloomgateError(ErrorCode::bad_input, format_count(added.count()) +
                                                   " lines were rejected and --strict was given; nothing was changed");
  }
}

}  // namespace

int run_update(const Arguments& arguments) {
  const std::optional<UpdateCommand> command = parse(arguments);
  if (!command) return EX_OK;
  const std::atomic<bool>& stop = stop_flag();
  // The work goes on if nobody reads the progress or the report.
  std::signal(SIGPIPE, SIG_IGN);
  const auto start = std::chrono::steady_clock::now();
  require_can_write(command->output, 0);
  require_can_write(command->store_path(), 0);
  if (command->keep != 0) require_can_keep_pair(command->output, command->store_path());
  require_scratch(command->options.scratch_folder);

  const ChangeLock lock(command->store);
  const std::unique_ptr<StoreFile> old = open_old(*command);
  Changes add(command->add, command->format, *old);
  Changes remove(command->remove, command->format, *old);
  BuildOptions options = StoreUpdate::options_for(*old, command->options);
  std::atomic<const Changes*> read_now{&add};  // null: writing
  WriteProgress written;
  const auto look = [&]() -> Progress::State {
    const Changes* const changes = read_now;
    return changes == nullptr ? state_of(written) : changes->state();
  };
  const Progress::Style style = command->quiet ? Progress::Style::none : Progress::style_for(STDERR_FILENO);
  Progress progress(style, look, Progress::interval_of(style));
  const auto show = [&](std::string_view line) { progress.show(line); };
  RejectLog rejected_of_add("", names_of(add.lists.blocks), show);
  RejectLog rejected_of_remove("", names_of(remove.lists.blocks), show);
  options.kept_generations =
      generations_to_keep(command->output, command->store_path(), command->keep, options.threads, show);
  StrangerCheck strangers(command->strangers, options, command->strict, show);
  StoreUpdate update(*old, options);
  strangers.attach_to(update);
  read_changes(add, update.added(), options, usual_broad_domains(command->free_mail_domains, show), rejected_of_add);
  read_now = &remove;
  read_changes(remove, update.removed(), options, {}, rejected_of_remove);
  require_entries(rejected_of_add, rejected_of_remove, command->strict);
  read_now = nullptr;
  const UpdateCounts counts = update.count(stop);
  const FilterHeader header = update.write(command->output, stop, written);
  progress.stop();
  if (options.expected_entries && header.addresses > header.expected_entries) {
    std::cerr << "warning: the store holds more addresses than expected, so the false-positive rate is higher\n";
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  (command->json ? print_json : print_text)(
      {*command, header, counts, rejected_of_add.count(), strangers.review(), update.spilled_bytes(), elapsed.count()});
  return EX_OK;
}

}  // namespace bloomgate::cli
