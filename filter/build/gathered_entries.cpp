#include "filter/build/gathered_entries.hpp"

#include <algorithm>

namespace bloomgate {
namespace {

// A quarter more than a round of work takes, since each lane has a started chunk in each partition.
std::uint64_t at_least(std::uint64_t memory_bytes, unsigned threads) noexcept {
  return std::max(memory_bytes, std::uint64_t{threads} * kEntriesAtOnce * sizeof(KeyHash) * 5 / 4);
}

}  // namespace

GatheredEntries::GatheredEntries(const StoreShape& shape, unsigned threads, std::uint64_t memory_bytes,
                                 const std::string& scratch_folder)
    : threads_(threads),
      addresses_(threads, at_least(memory_bytes / 4 * 3, threads), scratch_folder),
      domains_(threads, at_least(memory_bytes / 4, threads), scratch_folder) {
  for (unsigned i = 0; i < threads; ++i) lanes_.emplace_back(addresses_.lane(i), domains_.lane(i), shape);
}

KindsHeld GatheredEntries::kinds() const noexcept {
  KindsHeld kinds;
  for (const Lane& lane : lanes_) kinds += lane.kinds();
  return kinds;
}

void GatheredEntries::flush() {
  if (!addresses_.has_room_for(kEntriesAtOnce)) addresses_.spill(threads_);
  if (!domains_.has_room_for(kEntriesAtOnce)) domains_.spill(threads_);
}

}  // namespace bloomgate
