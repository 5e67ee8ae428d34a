#include "filter/cli/lists/add_entries.hpp"

#include <cmath>

#include "filter/build/gathered_entries.hpp"
#include "filter/cli/lists/entries.hpp"
#include "filter/cli/lists/rounds.hpp"

namespace bloomgate::cli {
namespace {

template <typename Lane>
void add_block(const Block& block, Lane& lane, const Format& format, AddressProfile profile,
               const ExceptList& exceptions, const BroadDomains& broad_domains, RejectLog& rejects) {
  BlockReport report = {.input = block.input, .index = block.index};
  const auto is_excepted = [&, any = !exceptions.empty()](std::string_view key) {
    const bool is_left_out = any && exceptions.has(key);
    report.excepted += is_left_out ? 1U : 0U;
    return is_left_out;
  };
  report.lines = for_each_entry(
      block, format, profile,
      [&](EntryKind kind, std::string_view key, std::uint64_t) {
        if (is_excepted(key)) return;
        if (kind == EntryKind::pair) {
          lane.add_pair(key);
        } else {
          lane.add_address(key);
        }
      },
      [&](const Entry& entry, std::uint64_t number) {
        if (is_excepted(entry.key())) return;
        lane.add(entry);
        report.add_broad(entry, broad_domains.of(entry), number);
      },
      [&](const ListLine& line, std::uint64_t number, std::string_view text) {
        if (line.entry.kind() != EntryKind::rejected) return;
        report.rejected.push_back({number, line.fault, std::string(text.substr(0, kMaxInputBytes + 1))});
      });
  rejects.add(std::move(report));
}

}  // namespace

std::vector<std::string> names_of(const Blocks& blocks) {
  std::vector<std::string> names;
  for (std::size_t input = 0; input < blocks.input_count(); ++input) names.push_back(blocks.name(input));
  return names;
}

template <typename Builder>
void add_entries(Blocks& blocks, Format& format, Builder& builder, const BuildOptions& options,
                 const ExceptList& exceptions, const BroadDomains& broad_domains, RejectLog& rejects) {
  for_each_block_in_rounds(
      blocks, format, options.threads, builder,
      [&](const Block& block, typename Builder::Lane& lane) {
        add_block(block, lane, format, options.profile, exceptions, broad_domains, rejects);
      },
      [&] { builder.flush(); });
}

template void add_entries(Blocks&, Format&, FilterBuilder&, const BuildOptions&, const ExceptList&, const BroadDomains&,
                          RejectLog&);
template void add_entries(Blocks&, Format&, GatheredEntries&, const BuildOptions&, const ExceptList&,
                          const BroadDomains&, RejectLog&);

std::optional<std::uint64_t> estimate_addresses(Blocks& blocks, const Format& format, AddressProfile profile) {
  constexpr std::uint64_t kWorthIt = std::uint64_t{1} << 30;  // less is counted, in memory
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
          block, format, profile, [&](EntryKind, std::string_view, std::uint64_t) { ++entries; },
          [&](const Entry& entry, std::uint64_t) { entries += goes_into_bits(entry.kind()) ? 1U : 0U; },
          [](const ListLine&, std::uint64_t, std::string_view) {});
      sampled_bytes += std::min(kSampleBytes, file_bytes - offset);
    }
    // Each file's share is rounded by itself, so that the sum does not depend on the order of the files.
    if (sampled_bytes != 0) {
      total += static_cast<std::uint64_t>(std::llround(
          static_cast<double>(entries) / static_cast<double>(sampled_bytes) * static_cast<double>(file_bytes)));
    }
  }
  return total;
}

}  // namespace bloomgate::cli
