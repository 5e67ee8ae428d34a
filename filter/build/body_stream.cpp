#include "filter/build/body_stream.hpp"

#include <algorithm>

#include "filter/base/parallel.hpp"

namespace bloomgate {
namespace {

// What mixing changes.
constexpr KeyHash kLowBits = 0xffffffff;

// Mixed hashes are in order but for those with the same high bits, of which there are few.
void restore_order(std::span<KeyHash> hashes, std::size_t begin) {
  for (std::size_t i = std::max<std::size_t>(begin, 1); i < hashes.size(); ++i) {
    const KeyHash hash = hashes[i];
    std::size_t at = i;
    for (; at > 0 && hashes[at - 1] > hash; --at) hashes[at] = hashes[at - 1];
    hashes[at] = hash;
  }
}

}  // namespace

BodyStream::BodyStream(BodyWriter& writer, const FilterShape& shape, unsigned threads)
    : writer_(writer),
      shape_(shape),
      rules_(&layout_rules(shape.layout)),
      threads_(threads),
      array_bytes_(body_bytes(shape)),
      // Blocks lie within chunks, so that a block never leaves the window in part.
      window_(std::min(std::uint64_t{64} << 20,
                       (array_bytes_ + kChecksumChunkBytes - 1) / kChecksumChunkBytes * kChecksumChunkBytes),
              "a part of the bit array") {}

void BodyStream::add(std::span<const KeyHash> stored) {
  if (stored.empty()) return;
  const std::size_t before = mixed_.size();
  mixed_.resize(before + stored.size());
  const std::span<KeyHash> added = std::span(mixed_).subspan(before);
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  for_each_parallel(threads_, (stored.size() + kPiece - 1) / kPiece, [&](std::size_t i) {
    const auto piece = stored.subspan(i * kPiece, std::min(kPiece, stored.size() - i * kPiece));
    mix_hashes(piece, shape_.seed, added.data() + i * kPiece);
  });
  restore_order(mixed_, before);
  // The next one may be mixed to any with the high bits of the last.
  const std::uint64_t open = begin_of(stored.back() & ~kLowBits);
  const auto end = std::ranges::partition_point(mixed_, [&](KeyHash hash) { return begin_of(hash) < open; });
  make(std::span<const KeyHash>(mixed_.begin(), end));
  mixed_.erase(mixed_.begin(), end);
}

void BodyStream::finish() {
  make(mixed_);
  mixed_.clear();
  move_window(array_bytes_);
}

// The hashes are all those of their blocks.
void BodyStream::make(std::span<const KeyHash> hashes) {
  while (!hashes.empty()) {
    const std::uint64_t first = begin_of(hashes.front());
    if (first - window_begin_ >= window_.bytes().size()) {
      move_window(first / kChecksumChunkBytes * kChecksumChunkBytes);
    }
    const std::uint64_t end = window_begin_ + window_.bytes().size();
    const auto behind = std::ranges::partition_point(hashes, [&](KeyHash hash) { return begin_of(hash) < end; });
    const auto inside = hashes.first(static_cast<std::size_t>(behind - hashes.begin()));
    make_in_window(inside);
    hashes = hashes.subspan(inside.size());
  }
}

// Each thread takes whole blocks.
void BodyStream::make_in_window(std::span<const KeyHash> hashes) {
  const BodyPart part = {window_.bytes().data(), window_begin_};
  const auto end_of_block = [&](std::size_t at) {
    const std::uint64_t block = begin_of(hashes[at]);
    while (at < hashes.size() && begin_of(hashes[at]) == block) ++at;
    return at;
  };
  const std::size_t pieces = std::min<std::size_t>(hashes.size(), std::size_t{4} * threads_);
  std::vector<std::size_t> ends = {0};
  for (std::size_t i = 1; i <= pieces; ++i) {
    ends.push_back(std::max(ends.back(), end_of_block(hashes.size() * i / pieces - 1)));
  }
  for_each_parallel(threads_, pieces, [&](std::size_t i) {
    if (!rules_->needs_whole_blocks()) {
      rules_->set_bits(shape_, part, hashes.subspan(ends[i], ends[i + 1] - ends[i]));
      return;
    }
    for (std::size_t at = ends[i]; at < ends[i + 1];) {
      const std::size_t end = end_of_block(at);
      rules_->set_bits(shape_, part, hashes.subspan(at, end - at));
      at = end;
    }
  });
}

// Writes all that lies before `begin`, which is a multiple of kChecksumChunkBytes or the end of the array.
void BodyStream::move_window(std::uint64_t begin) {
  const std::span<std::byte> bytes = window_.bytes();
  while (window_begin_ < begin) {
    const std::uint64_t done = std::min<std::uint64_t>(bytes.size(), begin - window_begin_);
    writer_.write(window_begin_, bytes.first(done));
    std::ranges::copy(bytes.subspan(done), bytes.begin());
    std::ranges::fill(bytes.last(done), std::byte{0});
    window_begin_ += done;
  }
}

}  // namespace bloomgate
