// Removes people from a folder of dated lists, as `bloomgate-update` keeps them, and stores in the folder that they
// were forgotten (forgotten_people.hpp). Replaces each list in one step. A second call finishes what the first could
// not do.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/base/error.hpp"

namespace bloomgate {

struct Erased {
  std::uint64_t lists = 0;      // that were read
  std::uint64_t rewritten = 0;  // how many of these were changed
  std::uint64_t lines = 0;      // that were removed
  // Comments and rejected lines that contain an address of one of the people: they are not changed.
  std::uint64_t lines_of_no_entry = 0;
  // Lists without a day in their name, kept by hand, that have lines of the people: they are not changed.
  std::vector<std::string> kept_by_hand;
  std::vector<BloomgateError> faults;  // of single lists, which are unchanged
};

// Throws BloomgateError{cannot_open, not_permitted} unless bloomgate-update keeps its lists in the folder, and the
// caller may change them.
void require_folder_of_lists(const std::string& folder);

// Rewrites each dated list in the folder and below it, without the lines that have one of the people on either side of
// a pair. The new list has the compression, owner, permissions and time of the old one. A list without such lines stays
// as it is, byte for byte. The people are also removed from the messages that were under way at the end of a run
// (`.journal-cursor`). Files that a killed run has left are removed, too. Adds the counts to `erased`.
//
// The caller must have locked the folder. Throws BloomgateError{cannot_open, cannot_read, cannot_write, bad_input} for
// a fault that is not about a single list, and {interrupted} soon after `stop` turned true.
void erase_from_lists(const std::string& folder, const std::vector<Entry>& people, const std::atomic<bool>& stop,
                      Erased& erased);

}  // namespace bloomgate
