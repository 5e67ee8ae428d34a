// `bloomgate size`: the calculator. From the number of entries and one of bits per entry, false-positive rate and
// memory to all the others.
#include <sysexits.h>

#include <cmath>
#include <iomanip>
#include <iostream>

#include "filter/cli/command.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/cli/shape_options.hpp"
#include "filter/error.hpp"
#include "filter/file_format.hpp"
#include "filter/layout.hpp"
#include "filter/sizing.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

struct Choice {
  double bits_per_entry = 0;
  FilterShape shape;
  double fpr = 0;
};

// What is asked for beside the size.
struct Wishes {
  std::uint64_t entries = 0;
  Layout layout = Layout::page;
  std::optional<std::uint32_t> block_bytes = {};
  std::optional<std::uint32_t> hashes = {};

  std::uint32_t block_bytes_for(std::uint32_t k) const {
    return block_bytes.value_or(layout_rules(layout).default_block_bytes(k));
  }
};

Choice choose(const Wishes& wishes, double bits_per_entry) {
  Choice choice = {.bits_per_entry = bits_per_entry, .shape = {.layout = wishes.layout}};
  FilterShape& shape = choice.shape;
  shape.hashes = wishes.hashes.value_or(best_hashes(bits_per_entry, wishes.layout, wishes.block_bytes_for(1)));
  shape.block_bytes = wishes.block_bytes_for(shape.hashes);
  shape.block_count = blocks_for(wishes.entries, bits_per_entry, shape.block_bytes);
  choice.fpr = expected_fpr(static_cast<double>(wishes.entries), shape);
  return choice;
}

std::uint64_t file_bytes(const Choice& choice) {
  return file_extent(choice.shape).file_bytes;
}

// The most bits per entry whose file fits into `memory_bytes`.
double bits_for_memory(const Wishes& wishes, std::uint64_t memory_bytes) {
  const auto overhead = static_cast<double>(kHeaderBytes);
  // The table adds 8 bytes to each MiB; a block is kept back for the rounding up.
  const double body = (static_cast<double>(memory_bytes) - overhead - 8) / (1 + 8.0 / kChecksumChunkBytes) -
                      wishes.block_bytes_for(wishes.hashes.value_or(kMaxHashes));
  const double bits = std::min(64.0, body * 8 / static_cast<double>(wishes.entries));
  if (bits < 1) {
    throw BloomgateError(ErrorCode::bad_argument, format_bytes(memory_bytes) + " leave less than one bit for each of " +
                                                      format_count(wishes.entries) + " entries; give more memory");
  }
  return bits;
}

void print_choice(std::uint64_t entries, const Choice& choice) {
  std::cout << "entries         " << format_count(entries) << "\nbits per entry  "
            << format_decimal(choice.bits_per_entry, 2) << "\nlayout          "
            << layout_rules(choice.shape.layout).name() << "\nhashes          " << choice.shape.hashes
            << "\nsize            " << format_bytes(file_bytes(choice)) << "\nFPR             "
            << format_rate(choice.fpr) << "  (1 in " << format_count(1 / choice.fpr) << ")\n";
}

// Whole bits per entry round the choice, each with its best k.
void print_table(Wishes wishes, const Choice& choice) {
  wishes.hashes.reset();
  const int middle = static_cast<int>(std::lround(choice.bits_per_entry));
  std::cout << "\nbits per entry  hashes  FPR         size\n";
  for (int bits = std::max(1, middle - 4); bits <= std::min(64, middle + 4); ++bits) {
    const Choice row = choose(wishes, bits);
    std::cout << std::setw(14) << bits << std::setw(8) << row.shape.hashes << "  " << std::left << std::setw(12)
              << format_rate(row.fpr) << std::right << format_bytes(file_bytes(row)) << '\n';
  }
}

}  // namespace

int run_size(const Arguments& arguments) {
  std::string entries_text;
  std::string fpr_text;
  std::string memory_text;
  double bits_per_entry = 8;
  std::uint32_t hashes = 0;
  ShapeOptions shape;
  po::options_description visible("options");
  visible.add_options()                                                                                     //
      ("entries", po::value(&entries_text)->required()->value_name("N"), "number of entries, such as 1e9")  //
      ("bits-per-entry", po::value(&bits_per_entry)->value_name("B"), "size for each entry (default: 8)")   //
      ("fpr", po::value(&fpr_text)->value_name("P"), "wanted false-positive rate, such as 0.01 or 1%")      //
      ("memory", po::value(&memory_text)->value_name("M"), "size of the file, such as 500M or 2G")          //
      ("hashes", po::value(&hashes)->value_name("K"), "bits set for each entry (default: the best)");
  shape.add_layout_to(visible);
  const auto values = parse_command_line(
      arguments, visible, nullptr,
      {.synopsis = "bloomgate size --entries N [--bits-per-entry B | --fpr P | --memory M] [OPTION...]",
       .purpose = "Calculates what a filter takes and gives, with a table of the choices round it.",
       .examples = "  bloomgate size --entries 1e9\n"
                   "  bloomgate size --entries 50000000 --fpr 0.1%\n"
                   "  bloomgate size --entries 1e9 --memory 2G --layout line\n"});
  if (!values) return EX_OK;
  if (values->count("bits-per-entry") + values->count("fpr") + values->count("memory") > 1) {
    throw UsageError("give one of --bits-per-entry, --fpr and --memory");
  }
  Wishes wishes = {.entries = parse_count(entries_text, "--entries"),
                   .layout = shape.chosen_layout(),
                   .block_bytes = shape.chosen_block_bytes()};
  if (wishes.entries == 0) throw UsageError("--entries takes at least 1");
  if (values->count("hashes") != 0) {
    if (hashes < 1 || hashes > kMaxHashes) throw UsageError("--hashes takes 1 to " + std::to_string(kMaxHashes));
    wishes.hashes = hashes;
  }
  if (values->count("fpr") != 0) {
    bits_per_entry = bits_per_entry_for_fpr(parse_rate(fpr_text, "--fpr"), wishes.layout, wishes.block_bytes_for(1));
  }
  if (values->count("memory") != 0) bits_per_entry = bits_for_memory(wishes, parse_bytes(memory_text, "--memory"));
  const Choice choice = choose(wishes, bits_per_entry);
  print_choice(wishes.entries, choice);
  print_table(wishes, choice);
  return EX_OK;
}

}  // namespace bloomgate::cli
