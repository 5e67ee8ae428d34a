#include "filter/engine/body_stream.hpp"

#include <algorithm>
#include <array>

#include "filter/engine/known_strangers.hpp"

namespace bloomgate {
namespace {

// The bits that mixing changes: the mixed hash is between the least and the greatest hash with the same high bits.
constexpr KeyHash kLowBits = 0xffffffff;

constexpr KeyHash least_mixed(KeyHash stored) noexcept {
  return stored & ~kLowBits;
}

constexpr KeyHash greatest_mixed(KeyHash stored) noexcept {
  return stored | kLowBits;
}

}  // namespace

std::vector<BodyStream::Chunk> BodyStream::cut(const HashRun& run) {
  std::vector<Chunk> chunks;
  if (run.hashes.empty()) return chunks;
  waiting_.push_back(run);
  // Later hashes may still go into the chunk into which the last hash may go.
  const std::uint64_t last = begin_of(least_mixed(run.hashes.back()));
  while (last >= std::min(next_ + kChecksumChunkBytes, array_bytes_)) chunks.push_back(next_chunk());
  return chunks;
}

std::vector<BodyStream::Chunk> BodyStream::cut_rest() {
  std::vector<Chunk> chunks;
  while (next_ < array_bytes_) chunks.push_back(next_chunk());
  return chunks;
}

BodyStream::Chunk BodyStream::next_chunk() {
  const std::uint64_t end = std::min(next_ + kChecksumChunkBytes, array_bytes_);
  Chunk chunk = {next_, end - next_};
  for (const HashRun& run : waiting_) {
    const auto behind =
        std::ranges::partition_point(run.hashes, [&](KeyHash hash) { return begin_of(least_mixed(hash)) < end; });
    chunk.runs.push_back(run.part({run.hashes.begin(), behind}));
    if (behind != run.hashes.end()) break;
  }
  // Mixing may move a few hashes to either side of the end, so these are kept for the next chunk, too.
  while (!waiting_.empty()) {
    auto& hashes = waiting_.front().hashes;
    const auto kept =
        std::ranges::partition_point(hashes, [&](KeyHash hash) { return begin_of(greatest_mixed(hash)) < end; });
    hashes = {kept, hashes.end()};
    if (!hashes.empty()) break;
    waiting_.pop_front();
  }
  next_ = end;
  return chunk;
}

std::span<const std::byte> BodyStream::make(const Chunk& chunk, std::span<std::byte, kChecksumChunkBytes> memory,
                                            KnownStrangers* strangers) const {
  const std::span<std::byte> bytes = memory.first(chunk.bytes);
  std::ranges::fill(bytes, std::byte{0});
  const BodyPart part = {bytes.data(), chunk.begin};
  if (rules_->needs_whole_blocks()) {
    make_blocks(chunk, part, strangers);
  } else {
    for (const HashRun& run : chunk.runs) set_bits(chunk, run.hashes, part, strangers);
  }
  if (strangers != nullptr) strangers->note_bits_here(shape_, {bytes.data(), chunk.begin}, chunk.begin + chunk.bytes);
  return bytes;
}

void BodyStream::set_bits(const Chunk& chunk, std::span<const KeyHash> run, BodyPart part,
                          KnownStrangers* strangers) const {
  const std::uint64_t end = chunk.begin + chunk.bytes;
  std::array<KeyHash, 1024> mixed;  // stays in the smallest cache
  for (std::span<const KeyHash> rest = run; !rest.empty();) {
    const auto piece = rest.first(std::min(rest.size(), mixed.size()));
    rest = rest.subspan(piece.size());
    mix_hashes(piece, shape_.seed, mixed.data());
    std::span<const KeyHash> inside = std::span(mixed).first(piece.size());
    const bool is_at_an_end =
        begin_of(least_mixed(piece.front())) < chunk.begin || begin_of(greatest_mixed(piece.back())) >= end;
    if (is_at_an_end) {
      const auto left = std::remove_if(mixed.begin(), mixed.begin() + piece.size(), [&](KeyHash hash) {
        const std::uint64_t begin = begin_of(hash);
        return begin < chunk.begin || begin >= end;
      });
      inside = {mixed.begin(), left};
    }
    rules_->set_bits(shape_, part, inside);
    if (strangers != nullptr) strangers->note_entries(inside);
  }
}

void BodyStream::make_blocks(const Chunk& chunk, BodyPart part, KnownStrangers* strangers) const {
  std::vector<KeyHash> mixed;
  for (const HashRun& run : chunk.runs) mixed.insert(mixed.end(), run.hashes.begin(), run.hashes.end());
  mix_hashes(mixed, shape_.seed, mixed.data());
  // Hashes with different high bits are in order already.
  std::ranges::sort(mixed);
  const auto place_of = [this](KeyHash hash) { return begin_of(hash); };
  auto at = std::ranges::lower_bound(mixed, chunk.begin, {}, place_of);
  const auto end = std::ranges::lower_bound(mixed, chunk.begin + chunk.bytes, {}, place_of);
  if (strangers != nullptr) strangers->note_entries({at, end});
  while (at != end) {
    const auto behind =
        std::find_if(at, end, [&, block = begin_of(*at)](KeyHash hash) { return begin_of(hash) != block; });
    rules_->set_bits(shape_, part, {at, behind});
    at = behind;
  }
}

}  // namespace bloomgate
