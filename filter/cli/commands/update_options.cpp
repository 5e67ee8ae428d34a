#include "filter/cli/commands/update_options.hpp"

#include <memory>
#include <utility>

#include "filter/base/parallel.hpp"
#include "filter/cli/commands/build_options.hpp"
#include "filter/cli/commands/kept_output.hpp"
#include "filter/cli/commands/loss_limits.hpp"
#include "filter/cli/commands/shape_options.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/file/secret_key.hpp"

namespace bloomgate::cli {

namespace po = boost::program_options;

std::optional<UpdateCommand> parse_update_command(const Arguments& arguments, const HelpText& help,
                                                  const po::options_description& extra) {
  UpdateCommand command;
  UpdateRequest& request = command.request;
  double bits_per_entry = 0;
  std::uint32_t hashes = 0;
  std::string expected_entries;
  std::string seed;
  std::string memory;
  std::string scratch;
  std::string sign_key;
  bool no_sender_domains = false;
  LossLimits limits;
  ShapeOptions shape;
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
      ("not", po::value(&request.strangers)->composing()->value_name("LIST"),
       "never take the addresses of LIST, a text list, for listed, unless they are entries; may be given several "
       "times")  //
      ("new-store", po::value(&request.new_store)->value_name("FILE"),
       "put the new store there, and leave the old one as it is")  //
      ("bits-per-entry", po::value(&bits_per_entry)->value_name("B"),
       "size of the filter: 1 to 64 bits for each address (default: as the old filter, or 8)")  //
      ("hashes", po::value(&hashes)->value_name("K"),
       "bits set for each address: 1 to 32 (default: as the old filter, or 6)")  //
      ("expected-entries", po::value(&expected_entries)->value_name("N"),
       "size the filter for N addresses (default: the number in the new store)")  //
      ("seed", po::value(&seed)->value_name("N"),
       "seed of the filter; the store keeps its own (default: random)")  //
      ("no-sender-domains", po::bool_switch(&no_sender_domains),
       "leave out the domains of all addresses, which the new pair has if the old store has them")  //
      ("format", po::value(&request.format)->default_value("text")->value_name("FORMAT"),
       "how the lists are written, as for build")  //
      ("threads", po::value(&request.options.threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("memory", po::value(&memory)->value_name("M"),
       "working memory for the changes (default: 256M); what does not fit goes to disk")  //
      ("scratch", po::value(&scratch)->value_name("FOLDER"),
       "where to put what does not fit into memory (default: the folder of the filter)")  //
      ("keep", po::value(&request.keep)->default_value(0)->value_name("N"),
       "keep the filter and the store that are replaced as FILE.1, and up to N earlier pairs; 'bloomgate rollback' "
       "puts "
       "them back")  //
      ("sign-key", po::value(&sign_key)->value_name("FILE"),
       "sign the filter with the secret key in FILE, as 'bloomgate sign' does")  //
      ("strict", po::bool_switch(&request.is_strict),
       "fail if any line of --add or --not is rejected, or an entry among --not")  //
      ("quiet", po::bool_switch(&command.quiet), "show no progress; warnings and bad lines are still shown");
  add_json(command.json, visible);
  limits.add_empty_to(visible);
  limits.add_reading_to(visible);
  limits.add_shrink_to(visible);
  add_broad_files(request.broad_files, visible);
  shape.add_layout_to(visible);
  for (const auto& option : extra.options()) visible.add(option);
  const auto values = parse_command_line(arguments, visible, nullptr, help);
  if (!values) return std::nullopt;
  BuildOptions& options = request.options;
  if (is_given(*values, "layout") || is_given(*values, "block-bytes")) {
    request.layout = shape.chosen_layout();
    request.block_bytes = shape.chosen_block_bytes();
  }
  if (is_given(*values, "bits-per-entry")) request.bits_per_entry = bits_per_entry;
  if (is_given(*values, "hashes")) request.hashes = hashes;
  if (!seed.empty()) request.seed = parse_seed(seed, "--seed");
  if (!expected_entries.empty()) options.expected_entries = parse_count(expected_entries, "--expected-entries");
  if (!is_given(*values, "threads")) options.threads = default_threads();
  checked_threads(options.threads);
  checked_keep(request.keep);
  if (!sign_key.empty()) options.sign_key = std::make_shared<const SecretKey>(SecretKey::read_from(sign_key));
  options.memory_bytes = parse_bytes(memory.empty() ? "256M" : memory, "--memory");
  if (is_given(*values, "scratch")) request.scratch_folder = scratch;
  options.sender_domains = !no_sender_domains;
  request.limits = limits;
  request.names = option_names();
  return command;
}

}  // namespace bloomgate::cli
