// Takes people out of a folder of dated lists, as `bloomgate-update` keeps them, and notes in it that they were
// forgotten (forgotten_people.hpp). A list is replaced in one step. Done again, it finishes what it could not do.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/base/error.hpp"

namespace bloomgate::cli {

// In that folder: what `bloomgate-update` notes of the journal, with the messages that a run has left under way.
inline constexpr std::string_view kJournalCursor = ".journal-cursor";

struct Erased {
  std::uint64_t lists = 0;      // that were read
  std::uint64_t rewritten = 0;  // of these
  std::uint64_t lines = 0;      // that were removed
  // Comments and lines that are rejected, with an address of one of the people somewhere in them: not changed.
  std::uint64_t lines_of_no_entry = 0;
  // Lists without a day in their name, which somebody keeps by hand, with lines of the people: not changed.
  std::vector<std::string> kept_by_hand;
  std::vector<BloomgateError> faults;  // of single lists: they are as they were
};

// Of the lists in the folder and below it, each one with a day in its name that has lines with one of the people, on
// either side of a pair, is written anew without them: compressed as before, with its owner, permissions and time. Any
// other list stays as it is, byte for byte. So do the messages that a run left under way (`.journal-cursor`). What a
// run that was killed has left is removed.
//
// The caller has the folder locked. Throws BloomgateError{cannot_open, cannot_read, cannot_write, bad_input} where that
// is not about a single list, and {interrupted} soon after `stop` turned true.
Erased erase_from_lists(const std::string& folder, const std::vector<Entry>& people, const std::atomic<bool>& stop);

}  // namespace bloomgate::cli
