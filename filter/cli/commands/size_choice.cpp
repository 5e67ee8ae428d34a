#include "filter/cli/commands/size_choice.hpp"

#include <algorithm>
#include <cmath>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/command_line.hpp"
#include "filter/domains/domain_coding.hpp"
#include "filter/file/file_format.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {
namespace {

constexpr double kDefaultBitsPerEntry = 8;
// Used if the number of entries is not known: so many that it makes no difference.
constexpr std::uint64_t kManyEntries = 1'000'000'000;

std::uint32_t block_bytes_for(const SizeWishes& wishes, std::uint32_t hashes) {
  return wishes.block_bytes.value_or(layout_rules(wishes.layout).default_block_bytes(hashes));
}

// How many bytes of bits the file of that size can have, with a block kept back for the rounding up.
double body_bytes_for(const SizeWishes& wishes, std::uint64_t memory_bytes) {
  // The table adds 8 bytes to each MiB.
  const double body = (static_cast<double>(memory_bytes) - double{kHeaderBytes} - 8) / (1 + 8.0 / kChecksumChunkBytes);
  return body / bits_of_place(wishes.layout) - block_bytes_for(wishes, wishes.hashes.value_or(kMaxHashes));
}

double bits_for_memory(const SizeWishes& wishes, std::uint64_t entries, std::uint64_t memory_bytes) {
  const double bits = body_bytes_for(wishes, memory_bytes) * 8 / static_cast<double>(entries);
  if (bits < 1) {
    throw BloomgateError(ErrorCode::bad_argument, format_bytes(memory_bytes) + " leave less than one bit for each of " +
                                                      format_counted(entries, "entry", "entries") +
                                                      "; give more memory");
  }
  return std::min(64.0, bits);
}

std::uint64_t entries_for_memory(const SizeWishes& wishes, double bits_per_entry, std::uint64_t memory_bytes) {
  const double entries = std::floor(body_bytes_for(wishes, memory_bytes) * 8 / bits_per_entry);
  if (entries < 1) {
    throw BloomgateError(ErrorCode::bad_argument,
                         format_bytes(memory_bytes) + " cannot hold even the smallest filter; give more memory");
  }
  return static_cast<std::uint64_t>(entries);
}

void refuse_contradictions(const SizeWishes& wishes) {
  if (wishes.entries && wishes.bits_per_entry && wishes.memory_bytes) {
    throw UsageError("--entries, --bits-per-entry and --memory: any two give the third, so give two");
  }
  const bool bits_known = wishes.bits_per_entry || (wishes.entries && wishes.memory_bytes);
  if (bits_known && wishes.hashes && wishes.fpr) {
    throw UsageError("the bits per entry, --hashes and --fpr: any two give the third, so give two");
  }
  if (!wishes.entries && !wishes.bits_per_entry && !wishes.fpr && !wishes.memory_bytes) {
    throw UsageError("give at least one of --entries, --bits-per-entry, --fpr and --memory");
  }
  if (wishes.entries && *wishes.entries == 0) throw UsageError("--entries takes at least 1");
  if (wishes.bits_per_entry && !(*wishes.bits_per_entry >= 1 && *wishes.bits_per_entry <= 64)) {
    throw UsageError("--bits-per-entry takes 1 to 64");
  }
  if (wishes.hashes && layout_rules(wishes.layout).most_hashes() == 1) {
    throw UsageError("--hashes does not go with --layout " + std::string(layout_rules(wishes.layout).name()) +
                     ", which has no bits to set; leave it out");
  }
  if (wishes.hashes && (*wishes.hashes < 1 || *wishes.hashes > kMaxHashes)) {
    throw UsageError("--hashes takes 1 to " + std::to_string(kMaxHashes));
  }
}

}  // namespace

std::optional<std::uint64_t> SizeChoice::file_bytes() const {
  if (!entries) return std::nullopt;
  return bloomgate::file_bytes({.shape = shape});
}

std::optional<std::uint64_t> SizeChoice::most_sender_domain_bytes() const {
  if (!entries) return std::nullopt;
  return DomainCoding(std::min(*entries, kMostSenderDomains)).section_bytes();
}

SizeChoice choice_at(const SizeWishes& wishes, std::optional<std::uint64_t> entries, double bits_per_entry,
                     std::optional<std::uint32_t> hashes) {
  SizeChoice choice = {
      .entries = entries, .bits_per_entry = bits_per_entry, .shape = {.layout = wishes.layout}, .fpr = 0};
  FilterShape& shape = choice.shape;
  const std::uint32_t most_hashes = layout_rules(wishes.layout).most_hashes();
  shape.hashes =
      hashes ? std::min(*hashes, most_hashes) : best_hashes(bits_per_entry, wishes.layout, block_bytes_for(wishes, 1));
  shape.block_bytes = block_bytes_for(wishes, shape.hashes);
  shape.block_count = blocks_for(entries.value_or(kManyEntries), bits_per_entry, shape.block_bytes);
  choice.fpr = expected_fpr(static_cast<double>(entries.value_or(kManyEntries)), shape);
  return choice;
}

SizeChoice choose_size(const SizeWishes& wishes) {
  refuse_contradictions(wishes);
  const std::uint32_t block_bytes = block_bytes_for(wishes, 1);
  std::optional<std::uint32_t> hashes = wishes.hashes;
  double bits = kDefaultBitsPerEntry;
  if (wishes.bits_per_entry || (wishes.entries && wishes.memory_bytes)) {
    bits =
        wishes.bits_per_entry ? *wishes.bits_per_entry : bits_for_memory(wishes, *wishes.entries, *wishes.memory_bytes);
    if (wishes.fpr) hashes = least_hashes_for_fpr(*wishes.fpr, bits, wishes.layout, block_bytes);
  } else if (wishes.fpr) {
    bits = bits_per_entry_for_fpr(*wishes.fpr, wishes.layout, block_bytes, hashes);
  }
  std::optional<std::uint64_t> entries = wishes.entries;
  if (!entries && wishes.memory_bytes) entries = entries_for_memory(wishes, bits, *wishes.memory_bytes);
  return choice_at(wishes, entries, bits, hashes);
}

}  // namespace bloomgate::cli
