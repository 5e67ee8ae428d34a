// `bloomgate build`: from lists of addresses to a filter file.
#include <sys/stat.h>
#include <sysexits.h>

#include <chrono>
#include <iostream>

#include "filter/builder.hpp"
#include "filter/cli/command.hpp"
#include "filter/cli/list_reader.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/cli/reject_log.hpp"
#include "filter/cli/shape_options.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/cli/text_blocks.hpp"
#include "filter/error.hpp"
#include "filter/sizing.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr unsigned kMostThreads = 256;

struct BuildCommand {
  std::string output;
  std::string reject_file;
  std::string expected_entries;
  std::string seed;
  std::string memory;
  bool strict = false;
  std::vector<std::string> inputs;
  ShapeOptions shape;
  BuildOptions options;
};

// Nothing given: --help was.
std::optional<BuildCommand> parse(const Arguments& arguments) {
  BuildCommand command;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&command.output)->required()->value_name("FILE"),
       "where to put the filter; a file that is there is replaced once the new one is whole")  //
      ("bits-per-entry", po::value(&command.options.bits_per_entry)->default_value(8)->value_name("B"),
       "size of the filter: 1 to 64 bits for each entry")  //
      ("hashes", po::value(&command.options.hashes)->default_value(6)->value_name("K"),
       "bits set for each entry: 1 to 32; B x 0.69 is best")  //
      ("expected-entries", po::value(&command.expected_entries)->value_name("N"),
       "size the filter for N entries (default: as many as the lists have)")  //
      ("seed", po::value(&command.seed)->value_name("N"),
       "seed of the hash; the same lists, options and seed give the same bytes (default: random)")  //
      ("threads", po::value(&command.options.threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("memory", po::value(&command.memory)->value_name("M"),
       "memory to work with, beside the filter itself (default: 1G)")  //
      ("keep-case", po::bool_switch(&command.options.profile.keep_local_part_case),
       "tell Joe@example.org from joe@example.org (default: they are one)")                                    //
      ("reject-file", po::value(&command.reject_file)->value_name("FILE"), "keep all rejected lines in FILE")  //
      ("strict", po::bool_switch(&command.strict), "fail if any line is rejected");
  command.shape.add_layout_to(visible);
  command.shape.add_hash_to(visible);
  po::options_description hidden;
  hidden.add_options()("input", po::value(&command.inputs));
  po::positional_options_description positional;
  positional.add("input", -1);
  const auto values = parse_command_line(
      arguments, visible, hidden, positional,
      {.synopsis = "bloomgate build --output FILE [OPTION...] INPUT...",
       .purpose = "Builds a filter from lists: one address, @domain or @.domain (the domain and all below it)\n"
                  "a line; # starts a comment. INPUT is a file, or - for standard input.",
       .examples =
           "  bloomgate build --output /var/lib/bloomgate/whitelist.bloom customers.txt partners.txt\n"
           "  zcat addresses.gz | bloomgate build --output whitelist.bloom --bits-per-entry 16 --hashes 11 -\n"});
  if (!values) return std::nullopt;
  if (command.inputs.empty()) throw UsageError("name at least one list, or - for standard input");
  command.options.layout = command.shape.chosen_layout();
  command.options.block_bytes = command.shape.chosen_block_bytes();
  command.options.hash_family = command.shape.chosen_hash_family();
  command.options.seed = values->count("seed") != 0 ? parse_seed(command.seed, "--seed") : random_seed();
  if (values->count("expected-entries") != 0) {
    command.options.expected_entries = parse_count(command.expected_entries, "--expected-entries");
  }
  command.options.memory_bytes =
      values->count("memory") != 0 ? parse_bytes(command.memory, "--memory") : std::uint64_t{1} << 30;
  if (values->count("threads") == 0) command.options.threads = default_threads();
  if (command.options.threads < 1 || command.options.threads > kMostThreads) {
    throw UsageError("--threads takes 1 to " + std::to_string(kMostThreads));
  }
  return command;
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat status_a = {};
  struct stat status_b = {};
  return stat(a.c_str(), &status_a) == 0 && stat(b.c_str(), &status_b) == 0 && status_a.st_dev == status_b.st_dev &&
         status_a.st_ino == status_b.st_ino;
}

// A slip of the hand must not cost the operator a list.
void refuse_to_overwrite_inputs(const BuildCommand& command) {
  for (const std::string& input : command.inputs) {
    if (same_file(input, command.output)) throw UsageError("--output would overwrite the list " + input);
    if (same_file(input, command.reject_file)) throw UsageError("--reject-file would overwrite the list " + input);
  }
  if (command.reject_file == command.output || same_file(command.reject_file, command.output)) {
    throw UsageError("--reject-file and --output are the same file");
  }
}

std::vector<std::string> names_of(const TextBlocks& blocks) {
  std::vector<std::string> names;
  for (std::size_t input = 0; input < blocks.input_count(); ++input) names.push_back(blocks.name(input));
  return names;
}

void print_report(const std::string& path, const FilterHeader& header, std::uint64_t rejected, double seconds) {
  const FileExtent extent = file_extent(header.shape);
  const double bits = static_cast<double>(extent.body_bytes) * 8;
  std::cout << "built     " << path << "\nentries   " << format_count(header.entries) << "\nrejected  "
            << format_count(rejected) << "\ndistinct  " << format_count(distinct_entries(header.bits_set, header.shape))
            << " (estimated from the fill)\nsize      " << format_bytes(extent.file_bytes);
  if (header.entries != 0) {
    std::cout << ", " << format_decimal(bits / static_cast<double>(header.entries), 2) << " bits per entry";
  }
  std::cout << "\nFPR       " << format_rate(fpr_from_fill(header.bits_set, header.shape))
            << " (expected from the fill)\ntime      " << format_decimal(seconds, 2) << " s, "
            << format_count(static_cast<double>(header.entries) / std::max(seconds, 1e-9)) << " entries per second\n";
}

}  // namespace

int run_build(const Arguments& arguments) {
  const std::optional<BuildCommand> command = parse(arguments);
  if (!command) return EX_OK;
  refuse_to_overwrite_inputs(*command);
  const std::atomic<bool>& stop = stop_flag();
  const auto start = std::chrono::steady_clock::now();

  TextBlocks blocks(command->inputs, stop);
  RejectLog rejects(command->reject_file, names_of(blocks));
  BuildOptions options = command->options;
  if (!options.expected_entries) options.expected_entries = estimate_entries(blocks, options.profile);
  FilterBuilder builder(options);
  read_lists(blocks, builder, options, rejects);
  if (command->strict && rejects.count() != 0) {
    rejects.keep();
    throw BloomgateError(ErrorCode::bad_input, format_count(rejects.count()) +
                                                   " lines were rejected and --strict was given; no filter was built");
  }
  if (builder.entries() == 0) std::cerr << "warning: the lists hold no entries; nobody will be listed\n";
  const FilterHeader header = builder.write(command->output, stop);
  rejects.keep();
  if (header.entries > header.expected_entries) {
    std::cerr << "warning: the lists hold more entries than expected; the false-positive rate is higher for it\n";
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_report(command->output, header, rejects.count(), elapsed.count());
  return EX_OK;
}

}  // namespace bloomgate::cli
