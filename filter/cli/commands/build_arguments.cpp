#include "filter/cli/commands/build_arguments.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/cli/commands/kept_output.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/file/generations.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/output_check.hpp"
#include "filter/ingest/dated_lists.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/jobs/add_entries.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/store/store_format.hpp"
#include "filter/system/available_memory.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

std::uint64_t seed_of(const BuildArguments& command, const po::variables_map& values) {
  if (values.count("seed-from") == 0) {
    return values.count("seed") != 0 ? parse_seed(command.seed, "--seed") : random_seed();
  }
  if (values.count("seed") != 0) throw UsageError("--seed and --seed-from cannot go together");
  return MappedFilter(command.seed_from).header().shape.seed;
}

// A list of a day to come stays in use for longer than --newest says. A clock may have been wrong when it was made, or
// is now.
void warn_of_days_to_come(const std::vector<std::string>& lists) {
  const Day now = today();
  for (const std::string& list : lists) {
    if (day_of_list(list).value_or(now) <= now + std::chrono::days(1)) continue;
    std::cerr << "warning: " << printable(list) << " is of a day to come, as today is " << format_day(now)
              << " by this machine's clock; rename it if its day is wrong\n";
  }
}

// Stores among the inputs decide how hashes are made. Throws UsageError for an option that wants them otherwise.
void follow_stores(BuildArguments& command, const po::variables_map& values) {
  const StoreFile& store = *command.stores->stores().front();
  const StoreShape& shape = store.header().shape;
  const auto require = [&](bool is_same, const std::string& option) {
    if (!is_same) throw UsageError(option + " is another than that of the store " + store.path() + "; leave it out");
  };
  BuildOptions& options = command.options;
  require(command.store_seed.empty() || parse_seed(command.store_seed, "--store-seed") == shape.seed, "--store-seed");
  require(!options.profile.keep_local_part_case || shape.profile.keep_local_part_case, "--keep-case");
  require(values["tag-separators"].empty() || options.profile.tag_separators == shape.profile.tag_separators,
          "--tag-separators");
  require(values["hash"].defaulted() || options.hash_family == shape.hash_family, "--hash");
  options.store_seed = shape.seed;
  options.profile = shape.profile;
  options.hash_family = shape.hash_family;
}

// Of a build that only writes a store.
std::uint64_t store_seed_of(const BuildArguments& command, const po::variables_map& values) {
  if (!command.store_seed.empty()) return parse_seed(command.store_seed, "--store-seed");
  if (values.count("seed-from") != 0) {
    const FilterShape shape = MappedFilter(command.seed_from).header().shape;
    return shape.store_seed.value_or(shape.seed);
  }
  return values.count("seed") != 0 ? command.options.seed : random_seed();
}

void choose_store_seed(BuildArguments& command, const po::variables_map& values) {
  if (!command.stores->empty()) return follow_stores(command, values);
  if (!command.options.store_path.empty()) {
    command.options.store_seed = store_seed_of(command, values);
  } else if (!command.store_seed.empty()) {
    throw UsageError("--store-seed goes with --store");
  }
}

TagSeparators separators_of(const BuildArguments& command) {
  const std::optional<TagSeparators> separators = TagSeparators::parse(command.tag_separators);
  if (separators) return *separators;
  throw UsageError("--tag-separators takes characters out of " + std::string(TagSeparators::kCharacters) + ", not '" +
                   command.tag_separators + "'");
}

// Divides the available memory: one part to work with, the rest for the bit array, which is made in parts if it is
// larger.
void share_memory(BuildArguments& command) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  constexpr std::uint64_t kMostByDefault = 1024 * kMiB;
  // Code, stacks, text, and what a thread needs at least for the domains of senders.
  const std::uint64_t of_thread = command.options.sender_domains ? 22 : 16;
  const std::uint64_t kept = (64 + of_thread * command.options.threads) * kMiB;
  const std::uint64_t available = available_memory();
  const std::uint64_t usable = available > kept ? available - kept : 0;
  BuildOptions& options = command.options;
  // Where all hashes must be kept, there is no use for memory that is left.
  const std::uint64_t by_default = keeps_all_hashes(options) ? usable / 4 * 3 : std::min(kMostByDefault, usable / 4);
  options.memory_bytes = command.memory.empty() ? by_default : parse_bytes(command.memory, "--memory");
  options.body_memory_bytes = usable > options.memory_bytes ? usable - options.memory_bytes : 0;
}

}  // namespace

std::optional<BuildArguments> parse_build_arguments(const Arguments& arguments, const HelpText& help,
                                                    const po::options_description& extra) {
  BuildArguments command;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&command.output)->required()->value_name("FILE"),
       "where to put the filter; an old file is replaced once the new one is complete")  //
      ("store", po::value(&command.options.store_path)->value_name("FILE"),
       "also write the exact set of the entries, as hashes, to confirm what the filter finds")  //
      ("bits-per-entry", po::value(&command.options.bits_per_entry)->default_value(8)->value_name("B"),
       "size of the filter: 1 to 64 bits for each address")  //
      ("hashes", po::value(&command.options.hashes)->default_value(6)->value_name("K"),
       "bits set for each address: 1 to 32; B x 0.69 is best")  //
      ("expected-entries", po::value(&command.expected_entries)->value_name("N"),
       "size the filter for N addresses (default: the number in the lists)")  //
      ("seed", po::value(&command.seed)->value_name("N"),
       "seed of the hash; the same lists, options and seed give the same bytes (default: random)")  //
      ("seed-from", po::value(&command.seed_from)->value_name("FILE"),
       "take the seed of that filter, so that few bytes change")  //
      ("store-seed", po::value(&command.store_seed)->value_name("N"),
       "seed of the hashes in the store; only stores of one seed can be put together (default: that of --seed, or "
       "random)")  //
      ("threads", po::value(&command.options.threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("memory", po::value(&command.memory)->value_name("M"),
       "working memory beside the filter itself (default: 1G, or a quarter of the free memory if that is less; "
       "three quarters of it with --layout ribbon, which takes 8 bytes for each address)")  //
      ("scratch", po::value(&command.scratch)->value_name("FOLDER"),
       "where to put what does not fit into memory during the build (default: the folder of the filter)")  //
      ("keep-case", po::bool_switch(&command.options.profile.keep_local_part_case),
       "treat Joe@example.org and joe@example.org as two addresses (default: they are one)")  //
      ("tag-separators", po::value(&command.tag_separators)->value_name("CHARACTERS"),
       "treat joe+tag@example.org as joe@example.org; give + and whatever else starts a tag (default: they are two)")  //
      ("format", po::value(&command.format)->default_value("text")->value_name("FORMAT"),
       "how the lists are written: text (one entry per line), csv:COLUMN (a number from 1, or a name in the first "
       "line), csv:SENDER,RECIPIENT (two columns, for pairs) or postfix-map (access(5), transport(5))")  //
      ("newest", po::value(&command.newest)->value_name("AGE"),
       "take dated lists (2026-11-20.txt.zst) of the last AGE only, such as 180d, 26w or 1y; others are taken too")  //
      ("except", po::value(&command.exceptions)->composing()->value_name("LIST"),
       "leave out the entries of LIST, a text list, and addresses in its domains; may be given several times")  //
      ("not", po::value(&command.strangers)->composing()->value_name("LIST"),
       "never take the addresses of LIST, a text list, for listed, unless they are entries; may be given several "
       "times")  //
      ("no-sender-domains", po::bool_switch(&command.no_sender_domains),
       "leave out the domains of all addresses, 4 to 6 bytes each, by which strangers at other domains are never "
       "found")                                                                                                 //
      ("reject-file", po::value(&command.reject_file)->value_name("FILE"), "write all rejected lines to FILE")  //
      ("sign-key", po::value(&command.sign_key)->value_name("FILE"),
       "sign the filter with the secret key in FILE, as 'bloomgate sign' does")  //
      ("keep", po::value(&command.keep)->default_value(0)->value_name("N"),
       "keep the filter that is replaced as FILE.1, and up to N earlier ones; 'bloomgate rollback' puts it back")  //
      ("strict", po::bool_switch(&command.strict), "fail if any line is rejected")                                 //
      ("replaces", po::value(&command.replaces)->value_name("FILE"),
       "the filter that this one will take the place of, which --allow-shrink is about (default: that of --output)")  //
      ("quiet", po::bool_switch(&command.quiet), "show no progress; warnings and bad lines are still shown")          //
      ("json", po::bool_switch(&command.json), "print the report as JSON, for scripts");
  command.limits.add_empty_to(visible);
  command.limits.add_reading_to(visible);
  command.limits.add_shrink_to(visible);
  add_broad_files(command.broad_files, visible);
  command.shape.add_layout_to(visible);
  command.shape.add_hash_to(visible);
  for (const auto& option : extra.options()) visible.add(option);
  const auto values = parse_command_line(arguments, visible, &command.inputs, help);
  if (!values) return std::nullopt;
  if (command.inputs.empty()) throw UsageError("name at least one list, or - for standard input");
  command.options.layout = command.shape.chosen_layout();
  const std::uint32_t most_hashes = layout_rules(command.options.layout).most_hashes();
  if ((*values)["hashes"].defaulted()) {
    command.options.hashes = std::min(command.options.hashes, most_hashes);
  } else if (most_hashes == 1) {
    throw UsageError("--hashes does not go with --layout " + command.shape.layout +
                     ", which has no bits to set; leave it out");
  }
  if (layout_rules(command.options.layout).counts_entries() && !command.strangers.empty()) {
    throw UsageError(
        "--not does not go with --layout counting, as whom such a filter lists changes; build a filter of another "
        "layout from the lists");
  }
  command.options.block_bytes = command.shape.chosen_block_bytes();
  command.options.hash_family = command.shape.chosen_hash_family();
  command.inputs = list_files(command.inputs);
  command.strangers = list_files(command.strangers);
  if (values->count("newest") != 0) {
    command.inputs = newest_lists(std::move(command.inputs), parse_age(command.newest, "--newest"), today());
    warn_of_days_to_come(command.inputs);
  }
  command.stores = std::make_unique<StoreInputs>(command.inputs);
  command.options.sender_domains = !command.no_sender_domains && command.stores->know_sender_domains();
  command.options.seed = seed_of(command, *values);
  command.options.profile.tag_separators = separators_of(command);
  choose_store_seed(command, *values);
  if (values->count("expected-entries") != 0) {
    command.options.expected_entries = parse_count(command.expected_entries, "--expected-entries");
  }
  if (values->count("threads") == 0) command.options.threads = default_threads();
  checked_threads(command.options.threads);
  checked_keep(command.keep);
  if (values->count("sign-key") != 0) {
    command.options.sign_key = std::make_shared<const SecretKey>(SecretKey::read_from(command.sign_key));
  }
  share_memory(command);
  command.options.scratch_folder = values->count("scratch") == 0 ? folder_of(command.output) : command.scratch;
  return command;
}

// A typing mistake must not cost the operator a list.
void refuse_to_overwrite_inputs(const BuildArguments& command) {
  for (const std::vector<std::string>* lists : {&command.inputs, &command.exceptions, &command.strangers}) {
    for (const std::string& list : *lists) {
      if (is_same_file(list, command.output)) throw UsageError("--output would overwrite the list " + list);
      if (is_same_file(list, command.options.store_path)) throw UsageError("--store would overwrite the list " + list);
      if (is_same_file(list, command.reject_file)) throw UsageError("--reject-file would overwrite the list " + list);
    }
  }
  const std::string& store = command.options.store_path;
  for (const auto& input : command.stores->stores()) {
    if (is_same_file(input->path(), command.output))
      throw UsageError("--output would overwrite the store " + input->path());
    if (is_same_file(input->path(), store)) {
      throw UsageError("--store would overwrite the store " + input->path() + "; 'bloomgate update' changes a store");
    }
    if (is_same_file(input->path(), command.reject_file)) {
      throw UsageError("--reject-file would overwrite the store " + input->path());
    }
  }
  for (const std::string& other : {command.output, command.reject_file}) {
    if (!store.empty() && are_same_place(store, other)) {
      throw UsageError("--store and " + other + " are the same file");
    }
  }
  if (are_same_place(command.reject_file, command.output)) {
    throw UsageError("--reject-file and --output are the same file");
  }
}

// Before the lists are read: they may be large.
void require_output(const BuildArguments& command, const BuildOptions& options) {
  std::uint64_t bytes = 0;
  if (options.expected_entries) {
    const LayoutRules& rules = layout_rules(options.layout);
    const std::uint32_t block_bytes = options.block_bytes.value_or(rules.default_block_bytes(options.hashes));
    bytes = blocks_for(std::max<std::uint64_t>(1, *options.expected_entries), options.bits_per_entry, block_bytes) *
            block_bytes * bits_of_place(options.layout);
  }
  require_can_write(command.output, bytes);
  if (!options.store_path.empty()) require_can_write(options.store_path, 0, kStoreMagic);
  if (command.keep != 0) require_can_keep_pair(command.output, options.store_path);
  require_scratch(options.scratch_folder);
}

bool is_estimate_off(std::uint64_t estimate, std::uint64_t addresses) {
  constexpr double kSizeTolerance = 0.01;  // how far the bits per entry may be from what was asked for
  return std::abs(static_cast<double>(estimate) - static_cast<double>(addresses)) >
         kSizeTolerance * static_cast<double>(addresses);
}

std::optional<std::uint64_t> estimate_of_inputs(OpenLists& lists, const StoreInputs& stores, AddressProfile profile) {
  if (lists.blocks.input_count() == 0) return stores.addresses();
  const std::optional<std::uint64_t> estimate = estimate_addresses(lists.blocks, *lists.format, profile);
  return estimate ? std::optional(*estimate + stores.addresses()) : std::nullopt;
}

}  // namespace bloomgate::cli
