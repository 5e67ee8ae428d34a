#include "filter/inputs/add_entries.hpp"

#include <cmath>

#include "filter/ingest/entries.hpp"

namespace bloomgate {
std::vector<std::string> names_of(const Blocks& blocks) {
  std::vector<std::string> names;
  for (std::size_t input = 0; input < blocks.input_count(); ++input) names.push_back(blocks.name(input));
  return names;
}

std::optional<std::uint64_t> estimate_addresses(Blocks& blocks, const Format& format, AddressProfile profile) {
  constexpr std::uint64_t kWorthIt = std::uint64_t{1} << 30;  // shorter lists are counted, in memory
  constexpr std::uint64_t kSampleBytes = std::uint64_t{1} << 15;
  constexpr std::uint64_t kOneSampleIn = std::uint64_t{1} << 24;
  if (!blocks.in_parts() || blocks.total_bytes() < kWorthIt) return std::nullopt;
  std::uint64_t total = 0;
  Block block;
  for (std::size_t input = 0; input < blocks.input_count(); ++input) {
    const std::uint64_t file_bytes = blocks.file_bytes(input);
    const std::uint64_t samples = file_bytes / kOneSampleIn + 1;
    std::uint64_t entries = 0;
    std::uint64_t sampled_bytes = 0;
    for (std::uint64_t i = 0; i < samples; ++i) {
      const std::uint64_t offset = file_bytes / samples * i;
      blocks.sample(input, offset, kSampleBytes, block);
      for_each_entry(
          block, format, profile, [&](EntryKind, const PlainKey&, std::uint64_t) { ++entries; },
          [&](const Entry& entry, std::uint64_t) { entries += goes_into_bits(entry.kind()) ? 1U : 0U; },
          [](const ListLine&, std::uint64_t, std::string_view) {});
      sampled_bytes += std::min(kSampleBytes, file_bytes - offset);
    }
    // Each file's share is rounded separately, so that the sum does not depend on the order of the files.
    if (sampled_bytes != 0) {
      total += static_cast<std::uint64_t>(std::llround(
          static_cast<double>(entries) / static_cast<double>(sampled_bytes) * static_cast<double>(file_bytes)));
    }
  }
  return total;
}

}  // namespace bloomgate
