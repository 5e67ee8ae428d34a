#include "filter/builder.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "filter/error.hpp"
#include "filter/filter_view.hpp"
#include "filter/filter_writer.hpp"
#include "filter/layout.hpp"
#include "filter/sizing.hpp"

namespace bloomgate {
namespace {

void check_stop(const std::atomic<bool>& stop) {
  if (stop.load(std::memory_order_relaxed)) {
    throw BloomgateError(ErrorCode::interrupted, "stopped before the filter was complete; nothing was changed");
  }
}

// Partitions whose part of the array is about half a MiB, so that it stays in a core's own cache while its bits are
// set; where the array's size is not known, as many as suit a filter of the memory's size.
unsigned partition_bits_for(std::uint64_t body_bytes) noexcept {
  constexpr std::uint64_t kPartBytes = std::uint64_t{1} << 19;
  constexpr unsigned kMost = 12;  // each lane has 64 bytes for each partition in the cache
  const auto parts = std::max<std::uint64_t>(1, body_bytes / kPartBytes);
  return std::min<unsigned>(kMost, static_cast<unsigned>(std::bit_width(parts) - 1));
}

// The shape that the options ask for, but for the number of blocks. Throws BloomgateError{bad_argument}.
FilterShape shape_of(const BuildOptions& options) {
  if (options.hashes < 1 || options.hashes > kMaxHashes) {
    throw BloomgateError(ErrorCode::bad_argument, "the number of hashes must be between 1 and " +
                                                      std::to_string(kMaxHashes) + ", not " +
                                                      std::to_string(options.hashes));
  }
  const LayoutRules& rules = layout_rules(options.layout);
  const std::uint32_t block_bytes = options.block_bytes.value_or(rules.default_block_bytes(options.hashes));
  if (!rules.allows_block_bytes(block_bytes, options.hashes)) {
    throw BloomgateError(ErrorCode::bad_argument, "the bytes of a block of the layout " + std::string(rules.name()) +
                                                      " must be " + rules.block_bytes_rule(options.hashes) + ", not " +
                                                      std::to_string(block_bytes));
  }
  blocks_for(1, options.bits_per_entry, block_bytes);  // refuses bits per entry out of range
  return {.layout = options.layout,
          .hash_family = options.hash_family,
          .hashes = options.hashes,
          .block_bytes = block_bytes,
          .seed = options.seed,
          .profile = options.profile};
}

}  // namespace

FilterBuilder::FilterBuilder(const BuildOptions& options) : options_(options), shape_(shape_of(options)) {
  add_partitions();
  if (options.expected_entries) expect(*options.expected_entries);
}

FilterBuilder::~FilterBuilder() = default;

void FilterBuilder::expect(std::uint64_t entries) {
  options_.expected_entries = std::max<std::uint64_t>(1, entries);
  shape_.block_count = blocks_for(*options_.expected_entries, options_.bits_per_entry, shape_.block_bytes);
  body_.emplace(file_extent(shape_).body_bytes, "the bit array; ask for fewer bits per entry or expect fewer entries");
  partitions_.clear();
  add_partitions();
}

void FilterBuilder::add_partitions() {
  const std::uint64_t body_bytes = body_ ? body_->bytes().size() : options_.memory_bytes;
  // A quarter more, since each lane has a started chunk in each partition.
  const std::uint64_t least_bytes = std::uint64_t{options_.threads} * kEntriesAtOnce * sizeof(std::uint64_t) *
                                    layout_rules(shape_.layout).values_per_entry(shape_.hashes) * 5 / 4;
  const std::uint64_t memory_bytes = std::max(options_.memory_bytes, least_bytes);
  partitions_.push_back(
      std::make_unique<HashPartitions>(partition_bits_for(body_bytes), options_.threads, memory_bytes));
  for (unsigned i = 0; i < options_.threads; ++i) {
    HashPartitions::Lane& hashes = partitions_.back()->lane(i);
    if (lanes_.size() <= i) {
      lanes_.emplace_back(hashes, shape_);
    } else {
      lanes_[i].hashes_ = &hashes;
    }
  }
}

void FilterBuilder::add(const Entry& entry) {
  if (!has_room_for(1)) {
    lane(0).settle();
    flush();
  }
  lane(0).add(entry);
}

void FilterBuilder::Lane::add_values(std::string_view key) {
  std::array<std::uint64_t, kMaxHashes> values;
  rules_->values_of(shape_, key, values.data());
  for (std::uint32_t i = 0; i < values_per_entry_; ++i) hashes_->add(values[i]);
}

std::uint64_t FilterBuilder::entries() const noexcept {
  std::uint64_t entries = 0;
  for (const Lane& lane : lanes_) entries += lane.entries_;
  return entries;
}

void FilterBuilder::flush() {
  if (body_) {
    set_bits();
  } else {
    add_partitions();
  }
}

void FilterBuilder::set_bits() {
  const LayoutRules& rules = layout_rules(shape_.layout);
  std::byte* const body = body_->bytes().data();
  for (const std::unique_ptr<HashPartitions>& partitions : partitions_) {
    // Neighbouring partitions may share a block; every other one at a time, none is touched by two threads.
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
      const std::size_t count = (partitions->partition_count() + 1 - first) / 2;
      // More partitions than blocks: even those two apart may share one.
      const unsigned threads = partitions->partition_count() > shape_.block_count ? 1 : options_.threads;
      for_each_parallel(threads, count, [&](std::size_t i) {
        partitions->for_each_run(2 * i + first,
                                 [&](std::span<const KeyHash> run) { rules.set_bits(shape_, body, run); });
      });
    }
    partitions->clear();
  }
}

FilterHeader FilterBuilder::write(const std::string& path, const std::atomic<bool>& stop) {
  check_stop(stop);
  for (Lane& lane : lanes_) {
    lane.settle();
    shape_.has_domains |= lane.has_domains_;
    shape_.has_domain_trees |= lane.has_domain_trees_;
  }
  if (!body_) {
    shape_.block_count = blocks_for(std::max<std::uint64_t>(1, entries()), options_.bits_per_entry, shape_.block_bytes);
    body_.emplace(file_extent(shape_).body_bytes, "the bit array; ask for fewer bits per entry");
  }
  FilterHeader header;
  header.shape = shape_;
  header.entries = entries();
  header.expected_entries = options_.expected_entries.value_or(std::max<std::uint64_t>(1, header.entries));

  FilterWriter writer(path, shape_);
  set_bits();
  const std::span<const std::byte> body = body_->bytes();
  const std::uint64_t chunk_count = file_extent(shape_).chunk_count;
  std::atomic<std::uint64_t> bits_set{0};
  for_each_parallel(options_.threads, chunk_count, [&](std::size_t chunk) {
    check_stop(stop);
    const std::uint64_t begin = chunk * kChecksumChunkBytes;
    const auto bytes = body.subspan(begin, std::min(kChecksumChunkBytes, body.size() - begin));
    bits_set += FilterView(shape_, bytes).count_ones();
    writer.write_body(begin, bytes);
  });
  header.bits_set = bits_set;
  check_stop(stop);
  writer.commit(header, options_.threads);
  return header;
}

}  // namespace bloomgate
