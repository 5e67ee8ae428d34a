#include "filter/build/hash_spill.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "filter/base/error.hpp"
#include "filter/base/file_io.hpp"

namespace bloomgate {
namespace {

// A file that has no name from the start where the file system can do that, or else loses it at once.
FileDescriptor unnamed_file(const std::string& folder) {
  FileDescriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600));
  if (file.is_open()) return file;
  std::string name = folder + "/.bloomgate-hashes-XXXXXX";
  file.reset(mkostemp(name.data(), O_CLOEXEC));
  if (!file.is_open()) throw system_error(ErrorCode::cannot_write, "create a temporary file in", folder, errno);
  unlink(name.c_str());
  return file;
}

}  // namespace

HashSpill::HashSpill(const std::string& folder, std::size_t partition_count)
    : folder_(folder), file_(unnamed_file(folder)), extents_(partition_count) {}

void HashSpill::add(std::size_t partition, const HashPartitions& hashes) {
  std::vector<KeyHash> run;  // all in one, so that it is one write, and later one read
  hashes.for_each_run(partition,
                      [&run](std::span<const KeyHash> part) { run.insert(run.end(), part.begin(), part.end()); });
  if (run.empty()) return;
  const auto bytes = std::as_bytes(std::span(run));
  const std::uint64_t offset = bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
  if (const int error = write_at(file_.get(), bytes, offset); error != 0) {
    throw system_error(
        ErrorCode::cannot_write,
        "write hashes that memory has no room for (raise --memory, or name a folder with more space with "
        "--scratch) to a temporary file in",
        folder_, error);
  }
  extents_[partition].push_back({offset, run.size()});
}

void HashSpill::for_each_run(std::size_t partition, const std::function<void(std::span<const KeyHash>)>& visit) const {
  constexpr std::uint64_t kHashesAtOnce = (std::uint64_t{1} << 18) / sizeof(KeyHash);
  std::vector<KeyHash> run(kHashesAtOnce);
  for (const Extent& extent : extents_[partition]) {
    for (std::uint64_t done = 0; done < extent.hashes;) {
      const auto part = std::span(run).first(std::min(kHashesAtOnce, extent.hashes - done));
      const auto bytes = std::as_writable_bytes(part);
      if (const int error = read_at(file_.get(), bytes, extent.offset + done * sizeof(KeyHash)); error != 0) {
        throw system_error(ErrorCode::cannot_read, "read hashes back from a temporary file in", folder_, error);
      }
      visit(part);
      done += part.size();
    }
  }
}

}  // namespace bloomgate
