// From lists to entries: reads blocks of lines in several threads and adds their entries to the builder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filter/broad/broad_domains.hpp"
#include "filter/engine/builder.hpp"
#include "filter/ingest/blocks.hpp"
#include "filter/ingest/entries.hpp"
#include "filter/ingest/except_list.hpp"
#include "filter/ingest/format.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/ingest/rounds.hpp"

namespace bloomgate {

// The names of the inputs, for a RejectLog.
std::vector<std::string> names_of(const Blocks& blocks);

// Adds the entries of one block to a lane. It looks for addresses that were cut short only in the first block of an
// input: such a slip is in a short list, and a long list would pay for the test 10^9 times.
template <typename Lane>
void add_block(const Block& block, Lane& lane, const Format& format, AddressProfile profile,
               const ExceptList& exceptions, const BroadDomains& broad_domains, RejectLog& rejects) {
  BlockReport report = {.input = block.input, .index = block.index};
  const auto is_excepted = [&, any = !exceptions.empty()](std::string_view key) {
    const bool is_left_out = any && exceptions.has(key);
    report.excepted += is_left_out ? 1U : 0U;
    return is_left_out;
  };
  const auto look_at_address = [&, is_first = block.starts_list()](EntryKind kind, std::string_view key,
                                                                   std::uint64_t number) {
    if (is_first) report.add_broad(key, BroadDomains::of_address(kind, key), number);
  };
  report.lines = for_each_entry(
      block, format, profile,
      [&](EntryKind kind, const PlainKey& key, std::uint64_t number) {
        if (is_excepted(key.text())) return;
        look_at_address(kind, key.text(), number);
        if (kind == EntryKind::pair) {
          lane.add_pair(key.text(), key.domain());
        } else {
          lane.add_address(key.text(), key.domain());
        }
      },
      [&](const Entry& entry, std::uint64_t number) {
        if (is_excepted(entry.key())) return;
        lane.add(entry);
        if (goes_into_bits(entry.kind())) {
          look_at_address(entry.kind(), entry.key(), number);
        } else {
          report.add_broad(entry.key(), broad_domains.of(entry), number);
        }
      },
      [&](const ListLine& line, std::uint64_t number, std::string_view text) {
        report.add_line_without_entry(line, number, text);
      });
  rejects.add(std::move(report));
}

// Adds every entry of the lists except the exceptions to the builder, with a thread for each of its lanes. The builder
// is a FilterBuilder, GatheredEntries or another class with such lanes. Reports what was rejected and which entries are
// broad. Throws what Blocks, Format and the builder throw.
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

// Estimates how many addresses the lists hold, from samples of about a thousandth of their text. Nothing if that is not
// worth it (the lists are short) or not possible (they are not all plain regular files). The result depends only on the
// lists, not on their order, the memory or the number of threads.
std::optional<std::uint64_t> estimate_addresses(Blocks& blocks, const Format& format, AddressProfile profile);

}  // namespace bloomgate
