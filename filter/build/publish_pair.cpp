#include "filter/build/publish_pair.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "filter/base/file_descriptor.hpp"
#include "filter/base/file_paths.hpp"
#include "filter/file/output_check.hpp"
#include "filter/file/store_file.hpp"

namespace bloomgate {

namespace {

// Locked as long as it is open: two writers of one pair must not put theirs in place at once, as the filter of the one
// would stand beside the store of the other. Where the file system has no locks, it does without.
FileDescriptor lock_folder(const std::string& folder) {
  FileDescriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (file.is_open() && flock(file.get(), LOCK_EX) != 0 && errno == EINTR) continue;
  return file;
}

}  // namespace

void publish_pair(FilterWriter& filter, FilterHeader& header, const std::string& path, StoreWriter& store,
                  const std::string& store_path, unsigned threads) {
  header.store_identity = store.complete();
  const FileDescriptor lock = lock_folder(folder_of(resolve_link(store_path)));
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
