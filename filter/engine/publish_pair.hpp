// Publishes a filter and its store together. Used by FilterBuilder and StoreUpdate.
#pragma once

#include <string>

#include "filter/file/filter_writer.hpp"
#include "filter/store/store_writer.hpp"

namespace bloomgate {

// Completes both files, which must be written, and puts the store's identity into the filter. At any moment the store
// of the filter at `path` is at `store_path` or staged beside it, so that open_store() finds it. If two writers publish
// the same pair, the second waits. With `kept`, the pair that is replaced stays under further names, and so do up to
// `kept` earlier pairs (kept_pairs.hpp). With a key the filter is signed. Throws as FilterWriter::commit() and
// StoreWriter::complete(); then the old pair is in place, or the new one.
void publish_pair(FilterWriter& filter, FilterHeader& header, const std::string& path, StoreWriter& store,
                  const std::string& store_path, unsigned threads, unsigned kept, const SecretKey* key = nullptr);

}  // namespace bloomgate
