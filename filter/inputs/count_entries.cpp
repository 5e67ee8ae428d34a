#include "filter/inputs/count_entries.hpp"

#include "filter/engine/bulk_lookup.hpp"
#include "filter/ingest/rounds.hpp"

namespace bloomgate {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{256} << 20;

// Whether the sender of a pair, which is an address, a domain entry or a mailing list, is an entry itself.
bool lists_sender(const FilterView& view, std::string_view sender) {
  const bool goes_into_bits = !sender.starts_with('@') && !is_mailing_list_key(sender);
  return goes_into_bits ? view.may_contain(sender) : view.contains_domain(sender);
}

// Returns the number of rejected lines.
std::uint64_t add_block(const Block& block, const Format& format, const FilterView& view, PairFoundBy rule,
                        BulkLookup::Lane& lane) {
  std::uint64_t rejected = 0;
  const auto add = [&](EntryKind kind, std::string_view key) {
    const bool is_pair = kind == EntryKind::pair || kind == EntryKind::domain_pair;
    if (is_pair && rule == PairFoundBy::sender_too && lists_sender(view, sides_of_pair(key).sender)) {
      lane.add_found();
    } else if (goes_into_bits(kind)) {
      lane.add(key);
    } else {
      lane.add_domain(key);
    }
  };
  for_each_entry(
      block, format, view.shape().profile,
      [&](EntryKind kind, const PlainKey& key, std::uint64_t) { add(kind, key.text()); },
      [&](const Entry& entry, std::uint64_t) { add(entry.kind(), entry.key()); },
      [&](const ListLine& line, std::uint64_t, std::string_view) {
        if (line.entry.kind() == EntryKind::rejected) ++rejected;
      });
  return rejected;
}

}  // namespace

EntryCounts count_entries(OpenLists& lists, const FilterView& view, unsigned threads, PairFoundBy rule) {
  BulkLookup lookup(view, threads, kMemoryBytes);
  std::atomic<std::uint64_t> rejected{0};
  for_each_block_in_rounds(
      lists.blocks, *lists.format, threads, lookup,
      [&](const Block& block, BulkLookup::Lane& lane) {
        rejected += add_block(block, *lists.format, view, rule, lane);
      },
      [&] { lookup.look_up(); });
  lookup.look_up();
  return {.found = lookup.found(), .missing = lookup.keys() - lookup.found(), .rejected = rejected};
}

}  // namespace bloomgate
