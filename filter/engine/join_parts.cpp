#include "filter/engine/join_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/base/saturating_sum.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/engine/part_file.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/layout/filter_view.hpp"

namespace bloomgate {
namespace {

using Parts = std::vector<std::unique_ptr<const PartFile>>;

[[noreturn]] void refuse_to_join(const std::string& what, const std::string& path = {}) {
  throw BloomgateError(ErrorCode::bad_input, what, {.path = path});
}

std::string blocks_text(std::uint64_t first, std::uint64_t end) {
  return end - first == 1 ? "block " + std::to_string(first)
                          : "blocks " + std::to_string(first) + " to " + std::to_string(end - 1);
}

void require_one_filter(const PartFile& a, const PartFile& b) {
  const FilterHeader& of_a = a.header().filter;
  const FilterHeader& of_b = b.header().filter;
  if (of_a.shape == of_b.shape && of_a.expected_entries == of_b.expected_entries) return;
  refuse_to_join(a.path() + " and " + b.path() +
                     " are parts of different filters; make all parts with the same seed, size, layout and options",
                 b.path());
}

// Each block of the filter is in one of them, in the order of the blocks.
void require_all_blocks(const Parts& parts) {
  const std::uint64_t blocks = parts.front()->header().filter.shape.block_count;
  std::uint64_t end = 0;
  const PartFile* before = nullptr;
  const auto refuse_gap = [&](std::uint64_t next) {
    refuse_to_join(blocks_text(end, next) + " of the filter's " + std::to_string(blocks) +
                   " are in none of the parts; name all parts");
  };
  for (const auto& part : parts) {
    const BlockRange& range = part->header().range;
    if (range.first > end) refuse_gap(range.first);
    if (range.first < end) {
      refuse_to_join(before->path() + " and " + part->path() + " both have " +
                         blocks_text(range.first, std::min(end, range.end())) + "; name each part once",
                     part->path());
    }
    end = range.end();
    before = part.get();
  }
  if (end != blocks) refuse_gap(blocks);
}

Parts open_all(std::span<const std::string> paths) {
  if (paths.empty()) throw BloomgateError(ErrorCode::bad_argument, "name at least one part");
  Parts parts;
  for (const std::string& path : paths) {
    parts.push_back(std::make_unique<const PartFile>(path));
    require_one_filter(*parts.front(), *parts.back());
  }
  std::ranges::sort(parts, {}, [](const auto& part) { return part->header().range.first; });
  require_all_blocks(parts);
  return parts;
}

// The bytes of the array from `begin` on, out of the parts that have them.
void read_array(const Parts& parts, std::uint64_t begin, std::span<std::byte> out) {
  auto part = std::ranges::upper_bound(parts, begin, {}, [](const auto& each) { return each->begin_bytes(); }) - 1;
  for (; !out.empty(); ++part) {
    const auto piece = out.first(std::min<std::uint64_t>(out.size(), (*part)->end_bytes() - begin));
    (*part)->read(begin - (*part)->begin_bytes(), piece);
    begin += piece.size();
    out = out.subspan(piece.size());
  }
}

}  // namespace

FilterHeader join_parts(std::span<const std::string> part_paths, const std::string& path, unsigned threads,
                        const std::atomic<bool>& stop) {
  const Parts parts = open_all(part_paths);
  for (const auto& part : parts) {
    check_stop(stop);
    part->verify(threads);  // damage must not spread into another file
  }
  FilterHeader header = parts.front()->header().filter;
  header.addresses = 0;
  for (const auto& part : parts) header.addresses = saturating_sum(header.addresses, part->header().filter.addresses);
  FilterWriter writer(path, header);
  const std::uint64_t array_bytes = body_bytes(header.shape);
  std::atomic<std::uint64_t> bits_set{0};
  for_each_parallel(threads, Section{.bytes = array_bytes}.chunk_count(), [&](std::size_t chunk) {
    check_stop(stop);
    const std::uint64_t begin = chunk * kChecksumChunkBytes;
    std::vector<std::byte> bytes(std::min(kChecksumChunkBytes, array_bytes - begin));
    read_array(parts, begin, bytes);
    bits_set += FilterView(header.shape, bytes).count_ones();
    writer.write(SectionKind::bits, begin, bytes);
  });
  header.bits_set = bits_set;
  for (const auto& part : parts) part->require_whole();
  check_stop(stop);
  writer.commit(header, threads);
  return header;
}

}  // namespace bloomgate
