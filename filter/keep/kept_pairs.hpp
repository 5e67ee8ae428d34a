// How a filter and its store change their names together: two files, of which only one can get a name at a time. The
// filter names its store by the identity in both headers (open_store).
//
// However the process ends, the filter in use is a whole one, and its store is at its path or staged beside it, where
// open_store() finds it. Only names change here; nothing is copied. Call it with the pair locked.
#pragma once

#include <string>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// Locked as long as it is open: two writers of one pair must not put theirs in place at once, as the filter of the one
// would stand beside the store of the other. Waits. Where the file system has no locks, it does without.
FileDescriptor lock_pair(const std::string& store_path);

// Ends what a writer of the pair began that was stopped between the two names: puts a staged store in its place if it
// is that of the filter at `filter_path`. What it replaces is kept if it belongs to a kept filter. Before another store
// is staged there. Throws BloomgateError{cannot_write}.
void settle_store(const std::string& store_path, const std::string& filter_path);

// How many stores keep_generation() is to keep when the one at `store_path` is replaced: 0 unless that is the store of
// a kept filter (FILE.1, FILE.2, ...), and else the highest number of these.
unsigned stores_to_keep(const std::string& store_path, const std::string& filter_path);

// Puts FILE.NUMBER at `filter_path`, and its store, which was kept or is still there, at `store_path`, as
// exchange_generation() does: what was in their places goes where they were, and the same call undoes it. Throws as
// that, and BloomgateError{bad_input} if the store of FILE.NUMBER is not there. Reads all of the store and checks it,
// with `threads` threads; throws what StoreFile::verify() throws, and nothing has changed then.
void exchange_pair(const std::string& filter_path, unsigned number, const std::string& store_path, unsigned threads);

}  // namespace bloomgate
