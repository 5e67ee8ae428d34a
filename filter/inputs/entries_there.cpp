#include "filter/inputs/entries_there.hpp"

#include <atomic>

#include "filter/ingest/look_up_entries.hpp"
#include "filter/ingest/rounds.hpp"

namespace bloomgate {
namespace {

const LineFault kNotThere = {"not-there", "this entry is not in the filter, so it cannot be removed"};

std::uint64_t gather_block(const Block& block, const Format& format, const FilterView& view,
                           GatheredEntries::Lane& lane, RejectLog& rejects) {
  BlockReport report = {.input = block.input, .index = block.index};
  std::uint64_t not_there = 0;
  report.lines = look_up_entries(
      block, format, view,
      [&](const LookedUp& entry) {
        if (!entry.found) {
          ++not_there;
          report.rejected.push_back({entry.line, kNotThere, entry_text(entry.key)});
        } else if (goes_into_bits(entry.kind)) {
          lane.add_address(entry.key);
        } else {
          lane.add_domain(entry.key);
        }
      },
      [&](const ListLine& line, std::uint64_t number, std::string_view text) {
        if (line.entry.kind() != EntryKind::rejected) {
          ++report.blank;
          return;
        }
        report.rejected.push_back({number, line.fault, std::string(text.substr(0, kMaxInputBytes + 1))});
      });
  rejects.add(std::move(report));
  return not_there;
}

}  // namespace

std::uint64_t gather_entries_there(OpenLists& lists, const FilterView& view, GatheredEntries& entries, unsigned threads,
                                   RejectLog& rejects) {
  std::atomic<std::uint64_t> not_there{0};
  for_each_block_in_rounds(
      lists.blocks, *lists.format, threads, entries,
      [&](const Block& block, GatheredEntries::Lane& lane) {
        not_there += gather_block(block, *lists.format, view, lane, rejects);
      },
      [&] { entries.flush(); });
  return not_there;
}

}  // namespace bloomgate
