#include "filter/gather/hash_partitions.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"

namespace bloomgate {
namespace {

// Chunks are so small that the last, half-full chunks of all partitions and lanes waste at most an eighth of the
// memory.
std::size_t chunk_hashes_for(std::uint64_t memory_bytes, std::uint64_t partitions_of_all_lanes) {
  constexpr std::uint64_t kLargest = 16384 / sizeof(KeyHash);
  const std::uint64_t fitting = memory_bytes / (8 * partitions_of_all_lanes * sizeof(KeyHash));
  return std::bit_floor(std::clamp<std::uint64_t>(fitting, HashPartitions::kLineHashes, kLargest));
}

// Writes 64 bytes to memory without reading it first and without displacing anything from the caches.
void store_line(KeyHash* to, const KeyHash* from) noexcept {
#ifdef __SSE2__
  for (std::size_t i = 0; i < HashPartitions::kLineHashes; i += 2) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
#else
  std::memcpy(to, from, HashPartitions::kLineHashes * sizeof(KeyHash));
#endif
}

}  // namespace

unsigned HashPartitions::bits_for(std::uint64_t body_bytes) noexcept {
  constexpr std::uint64_t kPartBytes = std::uint64_t{1} << 15;
  constexpr unsigned kMost = 12;  // each lane has 64 bytes for each partition in the cache
  const auto parts = std::max<std::uint64_t>(1, body_bytes / kPartBytes);
  return std::min<unsigned>(kMost, static_cast<unsigned>(std::bit_width(parts) - 1));
}

HashPartitions::HashPartitions(unsigned partition_bits, unsigned lanes, std::uint64_t memory_bytes)
    : partition_bits_(partition_bits),
      chunk_hashes_(chunk_hashes_for(memory_bytes, std::uint64_t{lanes} << partition_bits)),
      // At least the chunks that all partitions of all lanes need for a piece of work.
      chunk_count_(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
          memory_bytes / (chunk_hashes_ * sizeof(KeyHash)), std::uint64_t{lanes + 1} << partition_bits,
          std::numeric_limits<std::uint32_t>::max() / 2))),
      memory_(std::uint64_t{chunk_count_} * chunk_hashes_ * sizeof(KeyHash), "the hashes of the entries"),
      pool_(reinterpret_cast<KeyHash*>(memory_.bytes().data())) {
  lanes_.reserve(lanes);
  for (unsigned i = 0; i < lanes; ++i) lanes_.emplace_back(*this);
}

HashPartitions::~HashPartitions() = default;

bool HashPartitions::has_room_for(std::uint64_t hashes) const noexcept {
  const std::uint64_t used = used_chunks_.load(std::memory_order_relaxed);
  // Each partition of a lane may need one chunk more than its share of the hashes fills.
  const std::uint64_t wanted = (hashes / chunk_hashes_ + partition_count()) * lanes_.size();
  return used + wanted <= chunk_count_;
}

std::uint32_t HashPartitions::take_chunk() {
  const std::lock_guard lock(mutex_);
  if (used_chunks_.load(std::memory_order_relaxed) == chunk_count_) {
    throw BloomgateError(ErrorCode::out_of_memory, "the memory for hashes is full; raise " + choice_names().memory);
  }
  used_chunks_.fetch_add(1, std::memory_order_relaxed);
  if (free_.empty()) return next_chunk_++;
  const std::uint32_t chunk = free_.back();
  free_.pop_back();
  return chunk;
}

void HashPartitions::give_chunks_back(std::span<const std::uint32_t> chunks) {
  const std::lock_guard lock(mutex_);
  free_.insert(free_.end(), chunks.begin(), chunks.end());
  used_chunks_.fetch_sub(static_cast<std::uint32_t>(chunks.size()), std::memory_order_relaxed);
}

void HashPartitions::replace(std::size_t partition, std::span<const KeyHash> hashes) {
  for (Lane& lane : lanes_) {
    give_chunks_back(lane.chunks_[partition]);
    lane.clear(partition);
  }
  Lane& lane = lanes_.front();
  Lane::Slot& slot = lane.slots_[partition];
  while (hashes.size() >= kLineHashes) {
    const std::uint32_t index = take_chunk();
    lane.chunks_[partition].push_back(index);
    KeyHash* const chunk = pool_ + std::size_t{index} * chunk_hashes_;
    const std::size_t count = std::min(hashes.size() / kLineHashes * kLineHashes, chunk_hashes_);
    std::ranges::copy(hashes.first(count), chunk);
    slot = {chunk + count, chunk + chunk_hashes_};
    hashes = hashes.subspan(count);
  }
  std::ranges::copy(hashes, lane.lines_[partition].hashes);
  lane.pending_[partition] = static_cast<std::uint8_t>(hashes.size());
}

void HashPartitions::clear() noexcept {
  for (Lane& lane : lanes_) {
    for (std::size_t partition = 0; partition < partition_count(); ++partition) lane.clear(partition);
  }
  used_chunks_.store(0, std::memory_order_relaxed);
  next_chunk_ = 0;
  free_.clear();
}

HashPartitions::Lane::Lane(HashPartitions& owner)
    : owner_(&owner),
      shift_(64 - owner.partition_bits_),
      lines_(std::make_unique<Line[]>(owner.partition_count())),
      pending_(std::make_unique<std::uint8_t[]>(owner.partition_count())),
      slots_(std::make_unique<Slot[]>(owner.partition_count())),
      chunks_(owner.partition_count()) {}

void HashPartitions::Lane::settle() noexcept {
#ifdef __SSE2__
  _mm_sfence();  // streaming stores are not ordered by a lock or a join
#endif
}

void HashPartitions::Lane::write_line(std::size_t partition) {
  Slot& slot = slots_[partition];
  if (slot.next == slot.end) {
    const std::uint32_t index = owner_->take_chunk();
    chunks_[partition].push_back(index);
    slot.next = owner_->pool_ + std::size_t{index} * owner_->chunk_hashes_;
    slot.end = slot.next + owner_->chunk_hashes_;
  }
  store_line(slot.next, lines_[partition].hashes);
  slot.next += kLineHashes;
  pending_[partition] = 0;
}

void HashPartitions::Lane::clear(std::size_t partition) noexcept {
  slots_[partition] = {};
  pending_[partition] = 0;
  chunks_[partition].clear();
}

}  // namespace bloomgate
