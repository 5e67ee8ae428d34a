#include "filter/cli/lists/count_entries.hpp"

#include "filter/build/bulk_lookup.hpp"
#include "filter/cli/lists/rounds.hpp"

namespace bloomgate::cli {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{256} << 20;

// Returns the number of rejected lines.
std::uint64_t add_block(const Block& block, const Format& format, AddressProfile profile, BulkLookup::Lane& lane) {
  std::uint64_t rejected = 0;
  for_each_entry(
      block, format, profile, [&](std::string_view key, std::uint64_t) { lane.add(key); },
      [&](const Entry& entry, std::uint64_t) {
        if (entry.kind() == EntryKind::address) {
          lane.add(entry.key());
        } else {
          lane.add_domain(entry.key());
        }
      },
      [&](const ListLine& line, std::uint64_t, std::string_view) {
        if (line.entry.kind() == EntryKind::rejected) ++rejected;
      });
  return rejected;
}

}  // namespace

EntryCounts count_entries(OpenLists& lists, const FilterView& view, unsigned threads) {
  BulkLookup lookup(view, threads, kMemoryBytes);
  std::atomic<std::uint64_t> rejected{0};
  for_each_block_in_rounds(
      lists.blocks, *lists.format, threads, lookup,
      [&](const Block& block, BulkLookup::Lane& lane) {
        rejected += add_block(block, *lists.format, view.shape().profile, lane);
      },
      [&] { lookup.look_up(); });
  lookup.look_up();
  return {.found = lookup.found(), .missing = lookup.keys() - lookup.found(), .rejected = rejected};
}

}  // namespace bloomgate::cli
