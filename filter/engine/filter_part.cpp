#include "filter/engine/filter_part.hpp"

#include <algorithm>

#include "filter/base/error.hpp"
#include "filter/base/even_share.hpp"
#include "filter/engine/part_file.hpp"
#include "filter/engine/partition_bits.hpp"
#include "filter/layout/filter_view.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate {
namespace {

__extension__ using Wide = unsigned __int128;

// So many that sorting them first takes less time than the trips to memory that it saves.
constexpr std::size_t kManyHashes = 1 << 16;
constexpr std::uint64_t kPartitionMemory = std::uint64_t{64} << 20;
constexpr std::size_t kHashesAtOnce = 1 << 20;

[[noreturn]] void refuse_part(const std::string& what) {
  throw BloomgateError(ErrorCode::bad_argument, what);
}

std::uint64_t checked_bytes(const FilterShape& shape, const BlockRange& range) {
  require_parts(shape);
  if (!range.is_within(shape.block_count)) {
    refuse_part("a part has at least one block, and all of them among the " + std::to_string(shape.block_count) +
                " of the filter; not " + std::to_string(range.count) + " from number " + std::to_string(range.first) +
                " on");
  }
  return range.count * shape.block_bytes;
}

}  // namespace

bool is_made_of_parts(Layout layout) noexcept {
  return layout_rules(layout).is_made_of_parts();
}

void require_parts(const FilterShape& shape) {
  const LayoutRules& rules = layout_rules(shape.layout);
  if (!is_made_of_parts(shape.layout)) {
    throw BloomgateError(ErrorCode::unsupported_layout, "a filter of the layout " + std::string(rules.name()) +
                                                            " is not made of parts; take page or line");
  }
  if (shape.store_seed) refuse_part("a filter with a store is not made of parts; 'bloomgate build --store' makes it");
}

std::uint64_t block_of_hash(const FilterShape& shape, KeyHash hash) noexcept {
  return layout_rules(shape.layout).bytes_of(shape, hash).begin / shape.block_bytes;
}

BlockRange blocks_of_part(std::uint64_t block_count, std::uint64_t part, std::uint64_t parts) {
  if (parts == 0 || parts > block_count) {
    refuse_part("a filter of " + std::to_string(block_count) + " blocks has 1 to " + std::to_string(block_count) +
                " parts, not " + std::to_string(parts));
  }
  if (part >= parts) {
    refuse_part("parts are numbered from 0 to " + std::to_string(parts - 1) + ", not " + std::to_string(part));
  }
  const std::uint64_t first = begin_of_share(block_count, part, parts);
  return {first, begin_of_share(block_count, part + 1, parts) - first};
}

std::uint64_t part_of_block(std::uint64_t block_count, std::uint64_t block, std::uint64_t parts) noexcept {
  // The greatest part with part * block_count / parts <= block.
  return static_cast<std::uint64_t>((Wide{block + 1} * parts - 1) / block_count);
}

FilterPart::FilterPart(const FilterShape& shape, std::uint64_t expected_entries, const BlockRange& range)
    : shape_(shape),
      expected_entries_(expected_entries),
      range_(range),
      memory_(checked_bytes(shape, range), "this part of the bit array; make the filter of more parts") {}

void FilterPart::add(std::span<const KeyHash> hashes) {
  for (const KeyHash hash : hashes) {
    const std::uint64_t block = block_of_hash(shape_, hash);
    if (block >= range_.first && block < range_.end()) continue;
    refuse_part("a hash belongs to block " + std::to_string(block) + ", which is not among the " +
                std::to_string(range_.count) + " blocks of this part, from number " + std::to_string(range_.first) +
                " on");
  }
  if (!partitions_ && hashes.size() >= kManyHashes) {
    partitions_.emplace(HashPartitions::bits_for(body_bytes(shape_)), 1, kPartitionMemory);
  }
  for (std::span<const KeyHash> rest = hashes; !rest.empty();) {
    const auto piece = rest.first(std::min(rest.size(), kHashesAtOnce));
    set_bits(piece);
    rest = rest.subspan(piece.size());
  }
  addresses_ += hashes.size();
}

// As the builder does: many hashes are first sorted by their part of the array.
void FilterPart::set_bits(std::span<const KeyHash> hashes) {
  const BodyPart part = {memory_.bytes().data(), range_.first * shape_.block_bytes};
  if (hashes.size() < kManyHashes) return layout_rules(shape_.layout).set_bits(shape_, part, hashes);
  HashPartitions::Lane& lane = partitions_->lane(0);
  for (const KeyHash hash : hashes) lane.add(hash);
  lane.settle();
  set_partition_bits(shape_, part, *partitions_, 0, partitions_->partition_count(), 1,
                     [this](std::size_t partition, auto visit) { partitions_->for_each_run(partition, visit); });
  partitions_->clear();
}

void FilterPart::write(const std::string& path, unsigned threads) const {
  const PartHeader header = {.filter = {.shape = shape_,
                                        .expected_entries = expected_entries_,
                                        .addresses = addresses_,
                                        .bits_set = FilterView(shape_, bytes()).count_ones()},
                             .range = range_};
  write_part(path, header, bytes(), threads);
}

}  // namespace bloomgate
