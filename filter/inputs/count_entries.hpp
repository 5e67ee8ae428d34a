// How many entries of lists a filter holds, without saying which: the fast path of `bloomgate query --count` and
// `verify`.
#pragma once

#include "filter/inputs/open_lists.hpp"
#include "filter/layout/filter_view.hpp"

namespace bloomgate {

struct EntryCounts {
  std::uint64_t found = 0;  // by their own keys; pairs, depending on PairFoundBy, also by their senders
  std::uint64_t missing = 0;
  std::uint64_t rejected = 0;  // lines that are not entries
};

// What finds a pair: its own key alone, or also an entry that lists its sender for all recipients.
enum class PairFoundBy : std::uint8_t { itself, sender_too };

// Reads the whole lists, in `threads` threads. For filters that BulkLookup suits. Throws what Blocks and Format throw,
// and BloomgateError{out_of_memory}.
EntryCounts count_entries(OpenLists& lists, const FilterView& view, unsigned threads, PairFoundBy rule);

}  // namespace bloomgate
