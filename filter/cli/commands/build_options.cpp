#include "filter/cli/commands/build_options.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "filter/base/parallel.hpp"
#include "filter/cli/commands/kept_output.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/file/secret_key.hpp"
#include "filter/ingest/dated_lists.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

TagSeparators parse_separators(const std::string& text) {
  if (const std::optional<TagSeparators> separators = TagSeparators::parse(text)) return *separators;
  throw UsageError("--tag-separators takes characters out of " + std::string(TagSeparators::kCharacters) + ", not '" +
                   text + "'");
}

}  // namespace

bool is_given(const po::variables_map& values, const char* option) {
  return values.count(option) != 0 && !values[option].defaulted();
}

JobNames option_names() {
  return {.output = "--output",
          .store = "--store",
          .new_store = "--new-store",
          .reject_file = "--reject-file",
          .store_seed = "--store-seed",
          .keep_case = "--keep-case",
          .tag_separators = "--tag-separators",
          .hash = "--hash",
          .strangers = "--not",
          .exceptions = "--except",
          .removals = "--remove",
          .strict = "--strict",
          .no_sender_domains = "--no-sender-domains",
          .larger_bound = "a larger bound with --fpr"};
}

void ListBuildOptions::add_size_to(po::options_description& options) {
  options.add_options()  //
      ("bits-per-entry", po::value(&request_.options.bits_per_entry)->default_value(8)->value_name("B"),
       "size of the filter: 1 to 64 bits for each address")  //
      ("hashes", po::value(&request_.options.hashes)->default_value(6)->value_name("K"),
       "bits set for each address: 1 to 32; B x 0.69 is best");
}

void ListBuildOptions::add_to(po::options_description& options) {
  options.add_options()  //
      ("expected-entries", po::value(&expected_entries_)->value_name("N"),
       "size the filter for N addresses (default: the number in the lists)")  //
      ("seed", po::value(&seed_)->value_name("N"),
       "seed of the hash; the same lists, options and seed give the same bytes (default: random)")  //
      ("threads", po::value(&request_.options.threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("memory", po::value(&memory_)->value_name("M"),
       "working memory beside the filter itself (default: 1G, or a quarter of the free memory if that is less; "
       "three quarters of it with --layout ribbon, which takes 8 bytes for each address)")  //
      ("scratch", po::value(&scratch_)->value_name("FOLDER"),
       "where to put what does not fit into memory during the build (default: the folder of the filter)")  //
      ("keep-case", po::bool_switch(&request_.options.profile.keep_local_part_case),
       "treat Joe@example.org and joe@example.org as two addresses (default: they are one)")  //
      ("tag-separators", po::value(&tag_separators_)->value_name("CHARACTERS"),
       "treat joe+tag@example.org as joe@example.org; give + and whatever else starts a tag (default: they are two)")  //
      ("format", po::value(&request_.format)->default_value("text")->value_name("FORMAT"),
       "how the lists are written: text (one entry per line), csv:COLUMN (a number from 1, or a name in the first "
       "line), csv:SENDER,RECIPIENT (two columns, for pairs) or postfix-map (access(5), transport(5))")  //
      ("newest", po::value(&newest_)->value_name("AGE"),
       "take dated lists (2026-11-20.txt.zst) of the last AGE only, such as 180d, 26w or 1y; others are taken too")  //
      ("except", po::value(&request_.exceptions)->composing()->value_name("LIST"),
       "leave out the entries of LIST, a text list, and addresses in its domains; may be given several times")  //
      ("not", po::value(&request_.strangers)->composing()->value_name("LIST"),
       "never take the addresses of LIST, a text list, for listed, unless they are entries; may be given several "
       "times")  //
      ("no-sender-domains", po::bool_switch(&no_sender_domains_),
       "leave out the domains of all addresses, 4 to 6 bytes each, by which strangers at other domains are never "
       "found")                                                                                                  //
      ("reject-file", po::value(&request_.reject_file)->value_name("FILE"), "write all rejected lines to FILE")  //
      ("sign-key", po::value(&sign_key_)->value_name("FILE"),
       "sign the filter with the secret key in FILE, as 'bloomgate sign' does")         //
      ("strict", po::bool_switch(&request_.is_strict), "fail if any line is rejected")  //
      ("quiet", po::bool_switch(&quiet), "show no progress; warnings and bad lines are still shown");
  add_json(json, options);
  limits.add_empty_to(options);
  limits.add_reading_to(options);
  add_broad_files(request_.broad_files, options);
  shape.add_hash_to(options);
}

BuildRequest ListBuildOptions::request(const po::variables_map& values) const {
  BuildRequest request = request_;
  BuildOptions& options = request.options;
  options.layout = shape.chosen_layout();
  const LayoutRules& rules = layout_rules(options.layout);
  if (!is_given(values, "hashes")) {
    options.hashes = std::min(options.hashes, rules.most_hashes());
  } else if (rules.most_hashes() == 1) {
    throw UsageError("--hashes does not go with --layout " + shape.layout + ", which has no bits to set; leave it out");
  }
  if (const std::string_view why = rules.why_no_strangers(); !why.empty() && !request.strangers.empty()) {
    throw UsageError("--not does not go with --layout " + shape.layout + ", " + std::string(why) +
                     "; build a filter of another layout from the lists");
  }
  options.block_bytes = shape.chosen_block_bytes();
  const HashFamily hash_family = shape.chosen_hash_family();
  if (is_given(values, "hash")) request.hash_family = hash_family;
  if (is_given(values, "newest")) request.newest = parse_age(newest_, "--newest");
  if (is_given(values, "seed")) request.seed = parse_seed(seed_, "--seed");
  if (is_given(values, "tag-separators")) request.tag_separators = parse_separators(tag_separators_);
  if (is_given(values, "expected-entries")) {
    options.expected_entries = parse_count(expected_entries_, "--expected-entries");
  }
  if (!is_given(values, "threads")) options.threads = default_threads();
  checked_threads(options.threads);
  request.keep = checked_keep(keep);
  if (is_given(values, "sign-key")) {
    options.sign_key = std::make_shared<const SecretKey>(SecretKey::read_from(sign_key_));
  }
  if (!memory_.empty()) request.memory_bytes = parse_bytes(memory_, "--memory");
  if (is_given(values, "scratch")) request.scratch_folder = scratch_;
  options.sender_domains = !no_sender_domains_;
  request.limits = limits;
  request.names = option_names();
  return request;
}

std::optional<BuildCommand> parse_build_command(const Arguments& arguments, const HelpText& help,
                                                const po::options_description& extra) {
  std::string output;
  std::string store;
  std::string seed_from;
  std::string store_seed;
  std::string replaces;
  ListBuildOptions common;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&output)->required()->value_name("FILE"),
       "where to put the filter; an old file is replaced once the new one is complete")  //
      ("store", po::value(&store)->value_name("FILE"),
       "also write the exact set of the entries, as hashes, to confirm what the filter finds")  //
      ("seed-from", po::value(&seed_from)->value_name("FILE"),
       "take the seed of that filter, so that few bytes change")  //
      ("store-seed", po::value(&store_seed)->value_name("N"),
       "seed of the hashes in the store; only stores of one seed can be put together (default: that of --seed, or "
       "random)")  //
      ("keep", po::value(&common.keep)->default_value(0)->value_name("N"),
       "keep the filter that is replaced as FILE.1, and up to N earlier ones; 'bloomgate rollback' puts it back")  //
      ("replaces", po::value(&replaces)->value_name("FILE"),
       "the filter that this one will take the place of, which --allow-shrink is about (default: that of --output)");
  common.add_size_to(visible);
  common.shape.add_layout_to(visible);
  common.add_to(visible);
  common.limits.add_shrink_to(visible);
  for (const auto& option : extra.options()) visible.add(option);
  std::vector<std::string> inputs;
  const auto values = parse_command_line(arguments, visible, &inputs, help);
  if (!values) return std::nullopt;
  if (inputs.empty()) throw UsageError("name at least one list, or - for standard input");
  BuildRequest request = common.request(*values);
  if (is_given(*values, "seed-from")) {
    if (request.seed) throw UsageError("--seed and --seed-from cannot go together");
    request.seed_from = seed_from;
  }
  if (!store_seed.empty()) request.store_seed = parse_seed(store_seed, "--store-seed");
  request.output = output;
  request.options.store_path = store;
  request.inputs = std::move(inputs);
  request.replaces = replaces;
  return BuildCommand{std::move(request), common.shape.layout, common.quiet, common.json};
}

}  // namespace bloomgate::cli
