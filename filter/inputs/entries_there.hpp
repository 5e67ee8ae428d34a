// The entries of lists that are to be removed from a filter: those that it has, or looks as if it had. Used by
// `bloomgate remove`.
#pragma once

#include "filter/gather/gathered_entries.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/layout/filter_view.hpp"

namespace bloomgate {

// Adds them to `entries`, with a thread for each of its `threads` lanes, and reports every other line with its place:
// those that are no entries, and the entries that are certainly not in the filter, of which it returns the number.
// Throws what Blocks, Format and GatheredEntries throw.
std::uint64_t gather_entries_there(OpenLists& lists, const FilterView& view, GatheredEntries& entries, unsigned threads,
                                   RejectLog& rejects);

}  // namespace bloomgate
