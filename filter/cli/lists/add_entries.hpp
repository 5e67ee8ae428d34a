// From lists to entries: reads blocks of lines in several threads and gives their entries to the builder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filter/build/builder.hpp"
#include "filter/cli/lists/blocks.hpp"
#include "filter/cli/lists/broad_domains.hpp"
#include "filter/cli/lists/except_list.hpp"
#include "filter/cli/lists/format.hpp"
#include "filter/cli/lists/reject_log.hpp"

namespace bloomgate::cli {

// The names of the inputs, for a RejectLog.
std::vector<std::string> names_of(const Blocks& blocks);

// Adds every entry of the lists but the exceptions to the builder, which is a FilterBuilder or GatheredEntries, with a
// thread for each of its lanes, and reports what was rejected and which entries are broad. Throws what Blocks, Format
// and the builder throw.
template <typename Builder>
void add_entries(Blocks& blocks, Format& format, Builder& builder, const BuildOptions& options,
                 const ExceptList& exceptions, const BroadDomains& broad_domains, RejectLog& rejects);

// Estimates how many addresses the lists hold, from samples of about a thousandth of their text. Nothing if that is not
// worth it (the lists are short) or not possible (they are not all plain regular files). The result depends only on the
// lists, not on their order, the memory or the number of threads.
std::optional<std::uint64_t> estimate_addresses(Blocks& blocks, const Format& format, AddressProfile profile);

}  // namespace bloomgate::cli
