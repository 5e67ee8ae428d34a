// `bloomgate size`: the calculator. From the number of entries and one of bits per entry, false-positive rate and
// memory to all the others.
#include <sysexits.h>

#include <cmath>
#include <iomanip>
#include <iostream>

#include "filter/cli/command.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/error.hpp"
#include "filter/file_format.hpp"
#include "filter/page_layout.hpp"
#include "filter/sizing.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;
using page_layout::kBlockBytes;

struct Choice {
  double bits_per_entry = 0;
  std::uint32_t hashes = 0;
  std::uint64_t block_count = 0;
  double fpr = 0;
};

Choice choose(std::uint64_t entries, double bits_per_entry, std::optional<std::uint32_t> hashes) {
  Choice choice = {.bits_per_entry = bits_per_entry, .hashes = hashes.value_or(best_hashes(bits_per_entry))};
  choice.block_count = blocks_for(entries, bits_per_entry, kBlockBytes);
  choice.fpr = blocked_fpr(static_cast<double>(entries), choice.block_count, kBlockBytes, choice.hashes);
  return choice;
}

std::uint64_t file_bytes(const Choice& choice) {
  return file_extent({.block_bytes = kBlockBytes, .block_count = choice.block_count}).file_bytes;
}

// The most bits per entry whose file fits into `memory_bytes`.
double bits_for_memory(std::uint64_t entries, std::uint64_t memory_bytes) {
  const auto overhead = static_cast<double>(kHeaderBytes);
  // The table adds 8 bytes to each MiB; a block is kept back for the rounding up.
  const double body =
      (static_cast<double>(memory_bytes) - overhead - 8) / (1 + 8.0 / kChecksumChunkBytes) - kBlockBytes;
  const double bits = std::min(64.0, body * 8 / static_cast<double>(entries));
  if (bits < 1) {
    throw BloomgateError(ErrorCode::bad_argument, format_bytes(memory_bytes) + " leave less than one bit for each of " +
                                                      format_count(entries) + " entries; give more memory");
  }
  return bits;
}

void print_choice(std::uint64_t entries, const Choice& choice) {
  std::cout << "entries         " << format_count(entries) << "\nbits per entry  "
            << format_decimal(choice.bits_per_entry, 2) << "\nhashes          " << choice.hashes << "\nsize            "
            << format_bytes(file_bytes(choice)) << "\nFPR             " << format_rate(choice.fpr) << "  (1 in "
            << format_count(1 / choice.fpr) << ")\n";
}

// Whole bits per entry round the choice, each with its best k.
void print_table(std::uint64_t entries, const Choice& choice) {
  const int middle = static_cast<int>(std::lround(choice.bits_per_entry));
  std::cout << "\nbits per entry  hashes  FPR         size\n";
  for (int bits = std::max(1, middle - 4); bits <= std::min(64, middle + 4); ++bits) {
    const Choice row = choose(entries, bits, std::nullopt);
    std::cout << std::setw(14) << bits << std::setw(8) << row.hashes << "  " << std::left << std::setw(12)
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
  po::options_description visible("options");
  visible.add_options()                                                                                     //
      ("entries", po::value(&entries_text)->required()->value_name("N"), "number of entries, such as 1e9")  //
      ("bits-per-entry", po::value(&bits_per_entry)->value_name("B"), "size for each entry (default: 8)")   //
      ("fpr", po::value(&fpr_text)->value_name("P"), "wanted false-positive rate, such as 0.01 or 1%")      //
      ("memory", po::value(&memory_text)->value_name("M"), "size of the file, such as 500M or 2G")          //
      ("hashes", po::value(&hashes)->value_name("K"), "bits set for each entry (default: the best)");
  const auto values = parse_command_line(
      arguments, visible, {}, {},
      {.synopsis = "bloomgate size --entries N [--bits-per-entry B | --fpr P | --memory M] [--hashes K]",
       .purpose = "Calculates what a filter takes and gives, with a table of the choices round it.",
       .examples = "  bloomgate size --entries 1e9\n"
                   "  bloomgate size --entries 50000000 --fpr 0.1%\n"
                   "  bloomgate size --entries 1e9 --memory 2G\n"});
  if (!values) return EX_OK;
  if (values->count("bits-per-entry") + values->count("fpr") + values->count("memory") > 1) {
    throw UsageError("give one of --bits-per-entry, --fpr and --memory");
  }
  const std::uint64_t entries = parse_count(entries_text, "--entries");
  if (entries == 0) throw UsageError("--entries takes at least 1");
  if (values->count("hashes") != 0 && (hashes < 1 || hashes > kMaxHashes)) {
    throw UsageError("--hashes takes 1 to " + std::to_string(kMaxHashes));
  }
  if (values->count("fpr") != 0) bits_per_entry = bits_per_entry_for_fpr(parse_rate(fpr_text, "--fpr"), kBlockBytes);
  if (values->count("memory") != 0) bits_per_entry = bits_for_memory(entries, parse_bytes(memory_text, "--memory"));
  const Choice choice =
      choose(entries, bits_per_entry, values->count("hashes") != 0 ? std::optional(hashes) : std::nullopt);
  print_choice(entries, choice);
  print_table(entries, choice);
  return EX_OK;
}

}  // namespace bloomgate::cli
