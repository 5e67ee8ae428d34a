// How a filter and its store change their names together: two files, of which only one can get a name at a time. The
// filter names its store by the identity in both headers (open_store).
//
// If the process ends at any moment, the filter in use is a whole one, and its store is at its path or staged beside
// it, where open_store() finds it. Only names change here; nothing is copied. Call it with the pair locked.
#pragma once

#include <string>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// Locks a pair as long as the descriptor is open: otherwise two writers could publish at once, and the filter of one
// would be beside the store of the other. Waits. If the file system has no locks, there is no lock.
FileDescriptor lock_pair(const std::string& store_path);

// Completes the work of a writer of the pair that was stopped between the two names: puts a staged store at its path if
// it is that of the filter at `filter_path`. If the store that it replaces belongs to a kept filter, that is kept. Call
// it before another store is staged there. Throws BloomgateError{cannot_write}.
void settle_store(const std::string& store_path, const std::string& filter_path);

// How many stores keep_generation() is to keep when the one at `store_path` is replaced: 0 unless that is the store of
// a kept filter (FILE.1, FILE.2, ...), and otherwise the highest number of such a filter.
unsigned stores_to_keep(const std::string& store_path, const std::string& filter_path);

// Puts FILE.NUMBER at `filter_path`, and its store, which was kept or is still there, at `store_path`, as
// exchange_generation() does: the files that were there get the names of the new ones, and the same call undoes it.
// Throws as that, and BloomgateError{bad_input} if the store of FILE.NUMBER is missing. Reads all of the store and
// checks it, with `threads` threads; throws what StoreFile::verify() throws, and then nothing has changed.
void exchange_pair(const std::string& filter_path, unsigned number, const std::string& store_path, unsigned threads);

}  // namespace bloomgate
