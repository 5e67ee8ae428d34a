#include "filter/gather/gathered_entries.hpp"

#include <algorithm>

namespace bloomgate {
namespace {

std::uint64_t at_least(std::uint64_t memory_bytes, unsigned threads) noexcept {
  return std::max(memory_bytes, least_hash_bytes(threads));
}

}  // namespace

GatheredEntries::GatheredEntries(const StoreShape& shape, unsigned threads, std::uint64_t memory_bytes,
                                 const std::string& scratch_folder, bool sender_domains)
    : threads_(threads),
      addresses_(threads, at_least(memory_bytes / 4 * 3, threads), scratch_folder),
      domains_(threads, at_least(memory_bytes / 4, threads), scratch_folder) {
  // In addition to the rest; little memory suffices, since most of them are repeated.
  if (sender_domains) sender_domains_.emplace(shape, threads, memory_bytes / 16, scratch_folder);
  for (unsigned i = 0; i < threads; ++i) {
    lanes_.emplace_back(addresses_.lane(i), domains_.lane(i), sender_domains_ ? &sender_domains_->lane(i) : nullptr,
                        shape);
  }
}

std::uint64_t GatheredEntries::added() const noexcept {
  std::uint64_t added = 0;
  for (const Lane& lane : lanes_) added += lane.added();
  return added;
}

KindsHeld GatheredEntries::kinds() const noexcept {
  KindsHeld kinds;
  for (const Lane& lane : lanes_) kinds += lane.kinds();
  return kinds;
}

void GatheredEntries::add_stored_sender_domains(std::span<const KeyHash> hashes) {
  for (; !hashes.empty(); hashes = hashes.subspan(std::min<std::size_t>(hashes.size(), kEntriesAtOnce))) {
    if (!has_room_for(kEntriesAtOnce)) flush();
    lanes_.front().add_stored_sender_domains(hashes.first(std::min<std::size_t>(hashes.size(), kEntriesAtOnce)));
    lanes_.front().settle();
  }
}

void GatheredEntries::flush() {
  if (!addresses_.has_room_for(kEntriesAtOnce)) addresses_.spill(threads_);
  if (!domains_.has_room_for(kEntriesAtOnce)) domains_.spill(threads_);
  if (sender_domains_ && !sender_domains_->has_room_for(kEntriesAtOnce)) sender_domains_->make_room(threads_);
}

}  // namespace bloomgate
