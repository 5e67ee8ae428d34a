#include "filter/cli/commands/update_arguments.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "filter/base/error.hpp"
#include "filter/cli/commands/kept_output.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/output_check.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/jobs/bits_of_filter.hpp"
#include "filter/layout/layout.hpp"
#include "filter/store/store_format.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

void add_options(UpdateArguments& command, po::options_description& visible) {
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
      ("no-sender-domains", po::bool_switch(&command.no_sender_domains),
       "leave out the domains of all addresses, which the new pair has if the old store has them")  //
      ("format", po::value(&command.format)->default_value("text")->value_name("FORMAT"),
       "how the lists are written, as for build")  //
      ("threads", po::value(&command.options.threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("memory", po::value(&command.memory)->value_name("M"),
       "working memory for the changes (default: 256M); what does not fit goes to disk")  //
      ("scratch", po::value(&command.scratch)->value_name("FOLDER"),
       "where to put what does not fit into memory (default: the folder of the filter)")  //
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
  command.limits.add_empty_to(visible);
  command.limits.add_reading_to(visible);
  command.limits.add_shrink_to(visible);
  add_broad_files(command.broad_files, visible);
  command.shape.add_layout_to(visible);
}

}  // namespace

std::optional<UpdateArguments> parse_update_arguments(const Arguments& arguments, const HelpText& help,
                                                      const po::options_description& extra) {
  UpdateArguments command;
  po::options_description visible("options");
  add_options(command, visible);
  for (const auto& option : extra.options()) visible.add(option);
  const auto values = parse_command_line(arguments, visible, nullptr, help);
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
  options.scratch_folder = values->count("scratch") == 0 ? folder_of(command.output) : command.scratch;
  command.add = list_files(command.add);
  command.remove = list_files(command.remove);
  command.strangers = list_files(command.strangers);
  command.has_layout = !(*values)["layout"].defaulted();
  command.has_block_bytes = values->count("block-bytes") != 0;
  command.has_bits_per_entry = values->count("bits-per-entry") != 0;
  command.has_hashes = values->count("hashes") != 0;
  return command;
}

// A typing mistake must not cost the operator a list.
void refuse_to_overwrite_inputs(const UpdateArguments& command) {
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

// The shape that the options ask for, and where they do not, that of the old filter.
void choose_shape(UpdateArguments& command) {
  std::error_code error;
  BuildOptions& options = command.options;
  if (command.has_layout || command.has_block_bytes) {
    options.layout = command.shape.chosen_layout();
    options.block_bytes = command.shape.chosen_block_bytes();
  }
  if (std::filesystem::exists(command.output, error)) {
    const FilterHeader old = MappedFilter(command.output).header();
    if (!command.has_bits_per_entry) options.bits_per_entry = bits_per_entry_of(old);
    if (!command.has_layout && !command.has_block_bytes) {
      options.layout = old.shape.layout;
      options.block_bytes = old.shape.block_bytes;
    }
    if (!command.has_hashes && options.layout == old.shape.layout) options.hashes = old.shape.hashes;
  }
  if (!command.has_hashes) {
    options.hashes = std::min(options.hashes, layout_rules(options.layout).most_hashes());
  }
}

std::string choose_sender_domains(UpdateArguments& command, const StoreFile& old) {
  command.options.sender_domains = !command.no_sender_domains && old.header().knows_sender_domains();
  if (command.no_sender_domains || command.options.sender_domains) return {};
  return "warning: " + command.store +
         " does not have the domains of its senders, so neither has the new pair, and strangers at any domain may be "
         "found; build the store from its lists again, or give --no-sender-domains";
}

void require_outputs(const UpdateArguments& command) {
  require_can_write(command.output, 0);
  require_can_write(command.store_path(), 0, kStoreMagic);
  if (command.keep != 0) require_can_keep_pair(command.output, command.store_path());
  require_scratch(command.options.scratch_folder);
}

std::unique_ptr<StoreFile> open_old_store(const UpdateArguments& command) {
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

}  // namespace bloomgate::cli
