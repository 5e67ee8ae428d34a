#include "filter/cli/commands/build_options.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "filter/base/parallel.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/cli/commands/store_seed_option.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/file/secret_key.hpp"
#include "filter/ingest/dated_lists.hpp"
#include "filter/keep/generations.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

}  // namespace

TagSeparators parse_separators(const std::string& text) {
  if (const std::optional<TagSeparators> separators = TagSeparators::parse(text)) return *separators;
  throw UsageError("--tag-separators takes characters out of " + std::string(TagSeparators::kCharacters) + ", not '" +
                   text + "'");
}

unsigned checked_keep(unsigned keep) {
  if (keep <= kMostGenerations) return keep;
  throw UsageError("--keep takes a number from 0 to " + std::to_string(kMostGenerations));
}

void FilterOptions::read_into(FilterRequest& request, const po::variables_map& values) const {
  BuildOptions& options = request.options;
  if (is_given(values, "seed")) request.seed = parse_seed(seed, "--seed");
  if (is_given(values, "expected-entries")) {
    options.expected_entries = parse_count(expected_entries, "--expected-entries");
  }
  if (!is_given(values, "threads")) options.threads = default_threads();
  checked_threads(options.threads);
  checked_keep(request.keep);
  if (is_given(values, "sign-key")) {
    options.sign_key = std::make_shared<const SecretKey>(SecretKey::read_from(sign_key));
  }
  request.manifest = manifest.request(is_given(values, "sign-key"), "--sign-key");
  if (!memory.empty()) request.memory_bytes = parse_bytes(memory, "--memory");
  if (is_given(values, "scratch")) request.scratch_folder = scratch;
  options.sender_domains = !no_sender_domains;
}

void ListBuildOptions::add_size_to(po::options_description& options) {
  options.add_options()  //
      ("bits-per-entry", po::value(&asked.options.bits_per_entry)->default_value(8)->value_name("B"),
       "size of the filter: 1 to 64 bits for each address")  //
      ("hashes", po::value(&asked.options.hashes)->default_value(6)->value_name("K"),
       "bits set for each address: 1 to 32; B x 0.69 is best");
}

void ListBuildOptions::add_to(po::options_description& options) {
  options.add_options()  //
      ("expected-entries", po::value(&expected_entries)->value_name("N"),
       "size the filter for N addresses (default: the number in the lists)")  //
      ("seed", po::value(&seed)->value_name("N"),
       "seed of the hash; the same lists, options and seed give the same bytes (default: random)")  //
      ("threads", po::value(&asked.options.threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("memory", po::value(&memory)->value_name("M"),
       "working memory beside the filter itself (default: 1G, or a quarter of the free memory if that is less; with "
       "--layout ribbon three quarters of the free memory, since it takes 8 bytes for each address)")  //
      ("scratch", po::value(&scratch)->value_name("FOLDER"),
       "where to put what does not fit into memory during the build (default: the folder of the filter)")  //
      ("keep-case", po::bool_switch(&asked.options.profile.keep_local_part_case),
       "treat Joe@example.org and joe@example.org as two addresses (default: as one; for a layer, as in the last "
       "one)")  //
      ("tag-separators", po::value(&tag_separators_)->value_name("CHARACTERS"),
       "treat joe+tag@example.org as joe@example.org: the characters that start a tag, such as + (default: none; for a "
       "layer, those of the last one)")  //
      ("format", po::value(&asked.format)->default_value("text")->value_name("text|csv:COLUMN|postfix-map"),
       "how the lists are written: text (one entry per line), csv:COLUMN (a number from 1, or a name in the first "
       "line), csv:SENDER,RECIPIENT (two columns, for pairs) or postfix-map (access(5), transport(5))")  //
      ("newest", po::value(&newest_)->value_name("AGE"),
       "read only those dated lists (2026-11-20.txt.zst) that are younger than AGE, such as 180d, 26w or 1y; lists "
       "without a date are always read")  //
      ("leave-out", po::value(&asked.exceptions)->composing()->value_name("LIST"),
       "leave out the entries of LIST, a text list, and all addresses in its domains; may be repeated")  //
      ("never-match", po::value(&asked.strangers)->composing()->value_name("LIST"),
       "make sure that the addresses of LIST, a text list, are never found, unless they are entries; may be "
       "repeated")  //
      ("no-sender-domains", po::bool_switch(&no_sender_domains),
       "do not store the domains of the addresses (4 to 6 bytes each). Without them, an unlisted address at any domain "
       "may be found by chance")                                                                              //
      ("reject-file", po::value(&asked.reject_file)->value_name("FILE"), "write all rejected lines to FILE")  //
      ("sign-key", po::value(&sign_key)->value_name("FILE"),
       "sign the filter with the secret key in FILE, as 'bloomgate sign' does, and write the manifest")  //
      ("strict", po::bool_switch(&asked.is_strict), "fail if any line is rejected");
  add_quiet(quiet, options);
  manifest.add_to(options);
  add_json(json, options);
  add_allow_empty(asked.limits, options);
  add_allow_rejects(asked.limits, options);
  add_broad_files(asked.broad_files, options);
  shape.add_hash_to(options);
}

BuildRequest ListBuildOptions::request(const po::variables_map& values) const {
  BuildRequest request = asked;
  BuildOptions& options = request.options;
  options.layout = shape.chosen_layout();
  const LayoutRules& rules = layout_rules(options.layout);
  if (!is_given(values, "hashes")) {
    options.hashes = std::min(options.hashes, rules.most_hashes());
  } else if (rules.most_hashes() == 1) {
    throw UsageError("--hashes does not go with --layout " + shape.layout + ", which has no bits to set; leave it out");
  }
  if (const std::string_view why = rules.why_no_strangers(); !why.empty() && !request.strangers.empty()) {
    throw UsageError("--never-match does not go with --layout " + shape.layout + ", " + std::string(why) +
                     "; build a filter of another layout from the lists");
  }
  options.block_bytes = shape.chosen_block_bytes();
  const HashFamily hash_family = shape.chosen_hash_family();
  if (is_given(values, "hash")) request.hash_family = hash_family;
  if (is_given(values, "newest")) request.newest = parse_age(newest_, "--newest");
  if (is_given(values, "tag-separators")) request.tag_separators = parse_separators(tag_separators_);
  read_into(request, values);
  return request;
}

// The command as it was given, and where most whitelists are: ready to paste.
std::string with_output(std::string_view synopsis, const Arguments& arguments) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-=.,/_:";
  std::string command =
      std::string(synopsis.substr(0, synopsis.find(" -"))) + " --output /var/lib/bloomgate/whitelist.bloom";
  for (const std::string& word : arguments) {
    if (word == "--output" || word == "-o" || word.empty()) continue;
    const bool is_option = word.starts_with("--") && word.find_first_not_of(kPlain) == std::string::npos;
    command += ' ' + (is_option ? word : shell_word(word, "LIST"));
  }
  return command;
}

std::optional<FilterCommand<BuildRequest>> parse_build_command(const Arguments& arguments, const HelpText& help,
                                                               const po::options_description& extra) {
  std::string output;
  std::string store;
  std::string seed_from;
  StoreSeedOption store_seed;
  std::string replaces;
  ListBuildOptions common;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&output)->value_name("FILE"),
       "where to put the filter; an old file is replaced once the new one is complete")  //
      ("store", po::value(&store)->value_name("FILE"),
       "also write the exact set of the entries, as hashes, to confirm what the filter finds")  //
      ("seed-from", po::value(&seed_from)->value_name("FILE"),
       "take the seed of that filter, so that rsync sends little")  //
      ("keep", po::value(&common.asked.keep)->default_value(0)->value_name("N"),
       "keep the last N filters that were replaced, the newest as FILE.1; 'bloomgate rollback' puts it back")  //
      ("replaces", po::value(&replaces)->value_name("FILE"),
       "the filter with which --allow-shrink compares (default: that of --output)");
  store_seed.add_to(visible,
                    "seed of the hashes in the store; only stores with the same seed can be combined (default: that of "
                    "--seed, or random)");
  common.add_size_to(visible);
  common.shape.add_layout_to(visible);
  common.add_to(visible);
  add_allow_shrink(common.asked.limits, visible);
  for (const auto& option : extra.options()) visible.add(option);
  std::vector<std::string> inputs;
  const auto values = parse_command_line(arguments, visible, &inputs, help);
  if (!values) return std::nullopt;
  if (inputs.empty()) throw UsageError("name at least one list, or - for standard input");
  if (output.empty()) throw UsageError("say where to put the filter: " + with_output(help.synopsis, arguments));
  BuildRequest request = common.request(*values);
  if (is_given(*values, "seed-from")) {
    if (request.seed) throw UsageError("--seed and --seed-from cannot go together");
    request.seed_from = seed_from;
  }
  request.store_seed = store_seed.chosen(*values);
  request.output = output;
  request.options.store_path = store;
  request.inputs = std::move(inputs);
  request.replaces = replaces;
  return FilterCommand<BuildRequest>{std::move(request), common.quiet, common.json};
}

std::optional<FilterCommand<UpdateRequest>> parse_update_command(const Arguments& arguments, const HelpText& help,
                                                                 const po::options_description& extra) {
  UpdateRequest request;
  FilterOptions common;
  double bits_per_entry = 0;
  std::uint32_t hashes = 0;
  po::options_description visible("options");
  visible.add_options()  //
      ("store", po::value(&request.store)->required()->value_name("FILE"),
       "the store to change; it is replaced together with its filter")  //
      ("output,o", po::value(&request.output)->required()->value_name("FILE"),
       "the filter of the store, which is replaced; with --new-store, where to put a filter")  //
      ("add", po::value(&request.add)->composing()->value_name("LIST"),
       "add the entries of LIST; may be given several times")  //
      ("remove", po::value(&request.remove)->composing()->value_name("LIST"),
       "remove the entries of LIST, also those that are added; may be given several times")  //
      ("never-match", po::value(&request.strangers)->composing()->value_name("LIST"),
       "make sure that the addresses of LIST, a text list, are never found, unless they are entries; may be "
       "repeated")  //
      ("new-store", po::value(&request.new_store)->value_name("FILE"),
       "write the new store to FILE, and keep the old one")  //
      ("bits-per-entry", po::value(&bits_per_entry)->value_name("B"),
       "size of the filter: 1 to 64 bits for each address (default: as the old filter, or 8)")  //
      ("hashes", po::value(&hashes)->value_name("K"),
       "bits set for each address: 1 to 32 (default: as the old filter, or 6)")  //
      ("expected-entries", po::value(&common.expected_entries)->value_name("N"),
       "size the filter for N addresses (default: the number in the new store)")  //
      ("seed", po::value(&common.seed)->value_name("N"),
       "seed of the filter; the store keeps its own (default: random)")  //
      ("no-sender-domains", po::bool_switch(&common.no_sender_domains),
       "do not store the domains of the addresses (default: as in the old store)")  //
      ("format", po::value(&request.format)->default_value("text")->value_name("text|csv:COLUMN|postfix-map"),
       "how the lists are written, as for build")  //
      ("threads", po::value(&request.options.threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("memory", po::value(&common.memory)->value_name("M"),
       "working memory for the changes (default: 256M); what does not fit goes to disk")  //
      ("scratch", po::value(&common.scratch)->value_name("FOLDER"),
       "where to put what does not fit into memory (default: the folder of the filter)")  //
      ("keep", po::value(&request.keep)->default_value(0)->value_name("N"),
       "keep the last N pairs of filter and store that were replaced, the newest as FILE.1; 'bloomgate rollback' puts "
       "it back")  //
      ("sign-key", po::value(&common.sign_key)->value_name("FILE"),
       "sign the filter with the secret key in FILE, as 'bloomgate sign' does, and write the manifest")  //
      ("strict", po::bool_switch(&request.is_strict),
       "fail if any line of --add or --never-match is rejected, or an entry among --never-match");
  add_quiet(common.quiet, visible);
  common.manifest.add_to(visible);
  add_json(common.json, visible);
  add_allow_empty(request.limits, visible);
  add_allow_rejects(request.limits, visible);
  add_allow_shrink(request.limits, visible);
  add_broad_files(request.broad_files, visible);
  common.shape.add_layout_to(visible, "(default: that of the old filter)");
  for (const auto& option : extra.options()) visible.add(option);
  const auto values = parse_command_line(arguments, visible, nullptr, help);
  if (!values) return std::nullopt;
  if (is_given(*values, "layout") || is_given(*values, "block-bytes")) {
    request.layout = common.shape.chosen_layout();
    request.block_bytes = common.shape.chosen_block_bytes();
  }
  if (is_given(*values, "bits-per-entry")) request.bits_per_entry = bits_per_entry;
  if (is_given(*values, "hashes")) request.hashes = hashes;
  common.read_into(request, *values);
  return FilterCommand<UpdateRequest>{std::move(request), common.quiet, common.json};
}

}  // namespace bloomgate::cli
