#include "filter/build/publish_pair.hpp"

#include "filter/file/store_file.hpp"

namespace bloomgate {

void publish_pair(FilterWriter& filter, FilterHeader& header, const std::string& path, StoreWriter& store,
                  const std::string& store_path, unsigned threads) {
  header.store_identity = store.complete();
  settle_store(store_path, path);
  store.stage();
  try {
    filter.commit(header, threads);
  } catch (...) {
    // The filter may have got its name, and only its folder could not be synced. Then its store must not go.
    settle_store(store_path, path);
    throw;
  }
  store.publish();
}

}  // namespace bloomgate
