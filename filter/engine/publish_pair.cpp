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
    // Maybe the filter has got its name, and only syncing its folder failed. Then its store must not be lost.
    settle_store(store_path, path);
    throw;
  }
  store.publish(keeping(stores_to_keep(store_path, path)));
}

}  // namespace bloomgate
