// Changes the file of an exact list for an operator: adds or removes entries. Used by the commands of list_command.cpp,
// beside a running daemon, which watches the file.
//
// At every moment the path holds the old list or the whole new one: a temporary file in the same folder is synced and
// exchanged with it. Comments, other lines, owner, group and mode stay; a symbolic link remains one. Two edits at the
// same time wait for each other (flock(2) on the folder). If an editor saves the list meanwhile, its text is restored
// and the edit is made again. If the file system cannot exchange two files, an editor's save within some microseconds
// is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/list_commands.hpp"
#include "filter/address/address.hpp"
#include "milter/lists/exact_list_file.hpp"

namespace bloomgate {

struct EditedEntry {
  std::string entry;        // as written in a list
  bool has_changed = true;  // false: it existed already, or did not exist
  // For an entry to be removed: another entry of the list that still covers all of it, such as "@example.org"; else
  // empty.
  std::string covered_by = {};
  // Otherwise: the entries of the list that count for it under a condition, a signer or a recipient.
  std::vector<std::string> conditional = {};
};

struct EditedList {
  std::vector<EditedEntry> entries;  // one for each given entry
  std::size_t size = 0;              // the number of different entries in the list now
};

// The entries in words that an operator typed. Throws BloomgateError{bad_input} for the first word that is not an entry
// of such a list; its message says what to write.
std::vector<Entry> entries_of_words(std::span<const std::string> words, ListOf of = ListOf::senders);

// Makes the change for all of `entries` or for none. If there is nothing to change, the file is not touched.
// `separators` are those with which the daemon looks up the list (exact_list.hpp). Throws BloomgateError: what
// load_exact_list() throws; not_permitted; cannot_write, also if another program keeps changing the file; bad_input if
// the list would exceed `most_bytes`. Takes as long as reading the list twice.
EditedList edit_list_file(const std::string& path, std::span<const Entry> entries, ListChange change,
                          TagSeparators separators = {}, ListOf of = ListOf::senders,
                          std::uint64_t most_bytes = kMostExactListBytes);

}  // namespace bloomgate
