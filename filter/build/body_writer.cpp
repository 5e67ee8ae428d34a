#include "filter/build/body_writer.hpp"

#include <algorithm>

#include "filter/base/parallel.hpp"
#include "filter/build/stop_check.hpp"
#include "filter/layout/counters.hpp"
#include "filter/layout/filter_view.hpp"

namespace bloomgate {

BodyWriter::BodyWriter(FilterWriter& writer, const FilterShape& shape, unsigned threads, const std::atomic<bool>& stop,
                       WriteProgress& progress)
    : writer_(writer), shape_(shape), threads_(threads), stop_(stop), progress_(progress) {
  progress_.total_bytes = body_bytes(shape);
}

void BodyWriter::write(std::uint64_t begin, std::span<const std::byte> bytes) {
  const std::uint64_t chunks = (bytes.size() + kChecksumChunkBytes - 1) / kChecksumChunkBytes;
  for_each_parallel(threads_, chunks, [&](std::size_t chunk) {
    check_stop(stop_);
    const std::uint64_t at = chunk * kChecksumChunkBytes;
    const auto piece = bytes.subspan(at, std::min<std::uint64_t>(kChecksumChunkBytes, bytes.size() - at));
    if (layout_rules(shape_.layout).counts_entries()) {
      const CounterCounts counts = count_counters(piece);
      ones_ += counts.used;
      saturated_ += counts.saturated;
    } else {
      ones_ += FilterView(shape_, piece).count_ones();
    }
    writer_.write(SectionKind::bits, begin + at, piece);
    progress_.done_bytes += piece.size();
  });
}

}  // namespace bloomgate
