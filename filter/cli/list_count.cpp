#include "filter/cli/list_count.hpp"

#include "filter/bulk_lookup.hpp"
#include "filter/cli/block_entries.hpp"

namespace bloomgate::cli {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{256} << 20;

// Gives the number of rejected lines.
std::uint64_t add_block(const TextBlock& block, const ListFormat& format, AddressProfile profile,
                        BulkLookup::Lane& lane) {
  std::uint64_t rejected = 0;
  for_each_entry(
      block, format, profile, [&](std::string_view key, std::uint64_t) { lane.add(key); },
      [&](const Entry& entry, std::uint64_t) { lane.add(entry.key()); },
      [&](const ListLine& line, std::uint64_t, std::string_view) {
        if (line.entry.kind() == EntryKind::rejected) ++rejected;
      });
  return rejected;
}

}  // namespace

ListCount count_lists(OpenLists& lists, const FilterView& view, unsigned threads) {
  BulkLookup lookup(view, threads, kMemoryBytes);
  std::atomic<std::uint64_t> rejected{0};
  std::atomic<bool> full{true};
  while (full) {
    full = false;
    run_parallel(threads, [&](unsigned index) {
      BulkLookup::Lane& lane = lookup.lane(index);
      TextBlock block;
      while (true) {
        if (!lookup.has_room_for(kMostEntriesOfBlock)) {
          full = true;
          break;
        }
        if (!lists.blocks.next(block)) break;
        lists.format->start_block(block, lists.blocks.name(block.input));
        rejected += add_block(block, *lists.format, view.shape().profile, lane);
      }
      lane.settle();
    });
    lookup.look_up();
  }
  return {.found = lookup.found(), .missing = lookup.keys() - lookup.found(), .rejected = rejected};
}

}  // namespace bloomgate::cli
