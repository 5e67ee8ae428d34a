// From lists to entries: reads blocks of lines in several threads and hands their entries to the builder.
#pragma once

#include <cstdint>
#include <optional>

#include "filter/builder.hpp"
#include "filter/cli/broad_domains.hpp"
#include "filter/cli/list_format.hpp"
#include "filter/cli/reject_log.hpp"
#include "filter/cli/text_blocks.hpp"

namespace bloomgate::cli {

// Adds every entry of the lists to the builder, with a thread for each of its lanes, and reports what was rejected and
// which entries are broad.
// Throws what TextBlocks, ListFormat and FilterBuilder throw.
void read_lists(TextBlocks& blocks, ListFormat& format, FilterBuilder& builder, const BuildOptions& options,
                const BroadDomains& broad_domains, RejectLog& rejects);

// How many entries the lists hold, from samples of a thousandth or so of their text; nothing where that is not worth it
// (the lists are short) or not possible (they are not all plain regular files). Depends on nothing but the lists: not
// on their order, the memory or the number of threads.
std::optional<std::uint64_t> estimate_entries(TextBlocks& blocks, const ListFormat& format, AddressProfile profile);

}  // namespace bloomgate::cli
