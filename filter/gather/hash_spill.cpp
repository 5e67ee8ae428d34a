#include "filter/gather/hash_spill.hpp"

#include <algorithm>
#include <cerrno>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

FileDescriptor make_file(const std::string& folder) {
  FileDescriptor file = unnamed_file(folder);
  if (!file.is_open()) throw system_error(ErrorCode::cannot_write, "create a temporary file in", folder, errno);
  return file;
}

}  // namespace

HashSpill::HashSpill(const std::string& folder, std::size_t partition_count)
    : folder_(folder), file_(make_file(folder)), extents_(partition_count) {}

void HashSpill::take(HashPartitions& hashes, unsigned threads) {
  for_each_parallel(threads, hashes.partition_count(), [&](std::size_t partition) { add(partition, hashes); });
  hashes.clear();
}

void HashSpill::add(std::size_t partition, const HashPartitions& hashes) {
  std::vector<KeyHash> run;  // all hashes together, for one write now and one read later
  hashes.for_each_run(partition,
                      [&run](std::span<const KeyHash> part) { run.insert(run.end(), part.begin(), part.end()); });
  if (run.empty()) return;
  const auto bytes = std::as_bytes(std::span(run));
  const std::uint64_t offset = bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
  if (const int error = write_at(file_.get(), bytes, offset); error != 0) {
    throw system_error(ErrorCode::cannot_write,
                       "write hashes that do not fit into memory (raise " + choice_names().memory +
                           ", or name a folder with more space with " + choice_names().scratch +
                           ") to a temporary file in",
                       folder_, error);
  }
  extents_[partition].push_back({offset, run.size()});
}

std::uint64_t HashSpill::hashes(std::size_t partition) const noexcept {
  std::uint64_t hashes = 0;
  for (const Extent& extent : extents_[partition]) hashes += extent.hashes;
  return hashes;
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
