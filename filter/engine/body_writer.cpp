#include "filter/engine/body_writer.hpp"

#include <algorithm>

#include "filter/base/stop_check.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate {

BodyWriter::BodyWriter(FilterWriter& writer, const FilterShape& shape, unsigned threads, const std::atomic<bool>& stop,
                       WriteProgress& progress)
    : writer_(writer), shape_(shape), stop_(stop), progress_(progress), disk_(0, 0, WriteBehind::writers_for(threads)) {
  progress_.total_bytes = body_bytes(shape);
}

void BodyWriter::write(std::uint64_t begin, std::span<const std::byte> bytes) {
  for (std::uint64_t at = 0; at < bytes.size(); at += kChecksumChunkBytes) {
    disk_.add(bytes.subspan(at, std::min<std::uint64_t>(kChecksumChunkBytes, bytes.size() - at)),
              [this, place = begin + at](std::span<const std::byte> piece) { write_piece(place, piece); });
  }
}

void BodyWriter::write_piece(std::uint64_t begin, std::span<const std::byte> piece) {
  check_stop(stop_);
  const BodyCounts counts = layout_rules(shape_.layout).count(piece);
  ones_ += counts.ones;
  saturated_ += counts.saturated;
  writer_.write(SectionKind::bits, begin, piece);
  progress_.done_bytes += piece.size();
}

void BodyWriter::finish() {
  disk_.finish();
}

}  // namespace bloomgate
