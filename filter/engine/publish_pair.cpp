#include "filter/engine/publish_pair.hpp"

#include "filter/keep/generations.hpp"
#include "filter/keep/kept_pairs.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

void publish_pair(FilterWriter& filter, FilterHeader& header, const std::string& path, StoreWriter& store,
                  const std::string& store_path, unsigned threads, unsigned kept, const SecretKey* key) {
  header.store_identity = store.complete();
  const FileDescriptor lock = lock_pair(store_path);
  settle_store(store_path, path);
  store.stage();
  try {
    filter.commit(header, threads, keeping(kept), key);
  } catch (...) {
    // The filter may have got its name, and only its folder could not be synced. Then its store must not go.
    settle_store(store_path, path);
    throw;
  }
  store.publish(keeping(stores_to_keep(store_path, path)));
}

}  // namespace bloomgate
