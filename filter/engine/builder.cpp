#include "filter/engine/builder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/engine/body_writer.hpp"
#include "filter/engine/excluded_section.hpp"
#include "filter/engine/known_strangers.hpp"
#include "filter/engine/partition_bits.hpp"
#include "filter/engine/publish_pair.hpp"
#include "filter/engine/sorted_build.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/file/section_stream.hpp"
#include "filter/gather/sender_domains_section.hpp"
#include "filter/gather/sort_hashes.hpp"
#include "filter/keep/generations.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/store/store_writer.hpp"

namespace bloomgate {

FilterShape shape_of(const BuildOptions& options) {
  const LayoutRules& rules = layout_rules(options.layout);
  if (options.hashes < 1 || options.hashes > rules.most_hashes()) {
    throw BloomgateError(ErrorCode::bad_argument, "the number of hashes must be between 1 and " +
                                                      std::to_string(rules.most_hashes()) + ", not " +
                                                      std::to_string(options.hashes));
  }
  const std::uint32_t block_bytes = options.block_bytes.value_or(rules.default_block_bytes(options.hashes));
  if (!rules.allows_block_bytes(block_bytes, options.hashes)) {
    throw BloomgateError(ErrorCode::bad_argument, "the bytes of a block of the layout " + std::string(rules.name()) +
                                                      " must be " + rules.block_bytes_rule(options.hashes) + ", not " +
                                                      std::to_string(block_bytes));
  }
  const bool has_store = !options.store_path.empty() || options.store_seed;
  if (has_store && !rules.can_have_store()) {
    throw BloomgateError(ErrorCode::bad_argument, "the layout " +
                                                      std::string(rules.name()).append(rules.why_no_store()) +
                                                      "; take the layout page, line or ribbon");
  }
  blocks_for(1, options.bits_per_entry, block_bytes);  // throws for bits per entry out of range
  return {.layout = options.layout,
          .hash_family = options.hash_family,
          .hashes = options.hashes,
          .block_bytes = block_bytes,
          .seed = options.seed,
          .profile = options.profile,
          .store_seed = has_store ? std::optional(options.store_seed.value_or(options.seed)) : std::nullopt};
}

namespace {

// How to make the hashes that a store of the filter keeps, or would keep.
StoreShape stored_shape(const FilterShape& shape) {
  return {.hash_family = shape.hash_family, .seed = shape.store_seed.value_or(shape.seed), .profile = shape.profile};
}

}  // namespace

bool keeps_all_hashes(const BuildOptions& options) noexcept {
  return !options.store_path.empty() || layout_rules(options.layout).is_made_by_blocks();
}

FilterBuilder::FilterBuilder(const BuildOptions& options) : options_(options), shape_(shape_of(options)) {
  if (options.expected_entries) {
    expect(*options.expected_entries);
  } else {
    make_partitions();
  }
}

FilterBuilder::~FilterBuilder() = default;

void FilterBuilder::expect(std::uint64_t entries) {
  options_.expected_entries = std::max<std::uint64_t>(1, entries);
  shape_.block_count = blocks_for(*options_.expected_entries, options_.bits_per_entry, shape_.block_bytes);
  const std::uint64_t array_bytes = body_bytes(shape_);
  if (array_bytes <= options_.body_memory_bytes && !keeps_all_hashes(options_)) {
    body_.emplace(array_bytes, "the bit array; ask for fewer bits per entry or expect fewer entries");
  }
  make_partitions();
}

void FilterBuilder::set_strangers(KnownStrangers& strangers, std::function<void()> review) {
  const LayoutRules& rules = layout_rules(shape_.layout);
  if (!rules.why_no_strangers().empty()) {
    throw BloomgateError(ErrorCode::bad_argument, "the layout " + std::string(rules.name()) +
                                                      " goes without excluded senders, " +
                                                      std::string(rules.why_no_strangers()) + "; take another layout");
  }
  strangers.start_again();
  strangers_ = &strangers;
  review_ = std::move(review);
}

void FilterBuilder::make_partitions() {
  // If the bits are set soon, the hashes need no more memory than the bits. Allocating memory is slow, too.
  constexpr std::uint64_t kLeastOfUse = std::uint64_t{64} << 20;
  // Most lists have far more addresses than other entries.
  const std::uint64_t domain_bytes = options_.memory_bytes / 8;
  const std::uint64_t sender_domain_bytes = options_.sender_domains ? options_.memory_bytes / 8 : 0;
  const std::uint64_t address_bytes = options_.memory_bytes - domain_bytes - sender_domain_bytes;
  // If the array's size is not known, choose what suits an array as large as the memory.
  const std::uint64_t array_bytes = shape_.block_count != 0 ? body_bytes(shape_) : address_bytes;
  const std::uint64_t wanted_bytes =
      body_ ? std::min(address_bytes, std::max(array_bytes, kLeastOfUse)) : address_bytes;
  const std::uint64_t least_bytes = least_hash_bytes(options_.threads);
  const std::uint64_t values = layout_rules(shape_.layout).values_per_entry(shape_.hashes);
  partitions_.reset();
  partitions_ = std::make_unique<HashPartitions>(HashPartitions::bits_for(array_bytes), options_.threads,
                                                 std::max(wanted_bytes, least_bytes * values));
  domains_.reset();
  domains_ =
      std::make_unique<GatheredHashes>(options_.threads, std::max(domain_bytes, least_bytes), options_.scratch_folder);
  sender_domains_.reset();
  if (options_.sender_domains) {
    sender_domains_ = std::make_unique<GatheredDomains>(stored_shape(shape_), options_.threads, sender_domain_bytes,
                                                        options_.scratch_folder);
  }
  lanes_.clear();
  for (unsigned i = 0; i < options_.threads; ++i) {
    lanes_.emplace_back(partitions_->lane(i), domains_->lane(i), sender_domains_ ? &sender_domains_->lane(i) : nullptr,
                        shape_);
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

std::uint64_t FilterBuilder::addresses() const noexcept {
  std::uint64_t addresses = 0;
  for (const Lane& lane : lanes_) addresses += lane.addresses_;
  return addresses;
}

std::uint64_t FilterBuilder::domains() const noexcept {
  std::uint64_t domains = 0;
  for (const Lane& lane : lanes_) domains += lane.domains_;
  return domains;
}

KindsHeld FilterBuilder::kinds() const noexcept {
  KindsHeld kinds;
  for (const Lane& lane : lanes_) kinds += lane.kinds_;
  return kinds;
}

void FilterBuilder::flush() {
  if (!domains_->has_room_for(kEntriesAtOnce)) domains_->spill(options_.threads);
  if (sender_domains_ && !sender_domains_->has_room_for(kEntriesAtOnce)) sender_domains_->make_room(options_.threads);
  if (body_) {
    set_bits({body_->bytes().data()}, 0, partitions_->partition_count());
    partitions_->clear();
  } else if (!partitions_->has_room_for(kEntriesAtOnce * lanes_.front().values_per_entry_)) {
    spill();
  }
}

void FilterBuilder::spill() {
  if (!spill_) spill_ = std::make_unique<HashSpill>(options_.scratch_folder, partitions_->partition_count());
  spill_->take(*partitions_, options_.threads);
}

// Where the bytes of the array with a partition's bits begin; neighbouring partitions may share some bytes. Hashes that
// no entry can have may point past the array's end.
std::uint64_t FilterBuilder::begin_of(std::size_t partition) const noexcept {
  const KeyHash first = partitions_->first_hash(partition);
  return std::min(layout_rules(shape_.layout).bytes_of(shape_, first).begin, body_bytes(shape_));
}

std::uint64_t FilterBuilder::end_of(std::size_t partition) const noexcept {
  const std::uint64_t array_bytes = body_bytes(shape_);
  if (partition + 1 == partitions_->partition_count()) return array_bytes;
  const KeyHash last = partitions_->first_hash(partition + 1) - 1;
  return std::min(layout_rules(shape_.layout).bytes_of(shape_, last).end, array_bytes);
}

// The values of a partition, as they were added.
template <typename Visit>
void FilterBuilder::for_each_run(std::size_t partition, Visit visit) const {
  if (spill_) spill_->for_each_run(partition, visit);
  partitions_->for_each_run(partition, visit);
}

// The same in the form that the layout needs. Mixing never moves a hash to another partition.
template <typename Visit>
void FilterBuilder::for_each_value_run(std::size_t partition, Visit visit) const {
  if (!shape_.store_seed) return for_each_run(partition, visit);
  std::array<KeyHash, 1024> mixed;  // stays in the smallest cache
  for_each_run(partition, [&](std::span<const KeyHash> run) {
    for (; !run.empty(); run = run.subspan(std::min(run.size(), mixed.size()))) {
      const auto piece = run.first(std::min(run.size(), mixed.size()));
      mix_hashes(piece, shape_.seed, mixed.data());
      visit(std::span<const KeyHash>(mixed).first(piece.size()));
    }
  });
}

void FilterBuilder::set_bits(BodyPart part, std::size_t first_partition, std::size_t end_partition) {
  const auto for_each_noted_run = [this](std::size_t partition, auto visit) {
    for_each_value_run(partition, [&](std::span<const KeyHash> run) {
      visit(run);
      if (strangers_ != nullptr) strangers_->note_entries(run);
    });
  };
  if (!layout_rules(shape_.layout).is_made_by_blocks()) {
    return set_partition_bits(shape_, part, *partitions_, first_partition, end_partition, options_.threads,
                              for_each_noted_run);
  }
  if (!block_maker_) block_maker_ = std::make_unique<BlockMaker>(shape_);
  make_partition_blocks(shape_, *block_maker_, part, *partitions_, first_partition, end_partition, options_.threads,
                        for_each_noted_run);
}

// How much of the array to have in memory at once: as much as is allowed, but at least as much as the largest partition
// needs in addition to the started chunk before it.
std::uint64_t FilterBuilder::part_bytes() const noexcept {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < partitions_->partition_count(); ++i) most = std::max(most, end_of(i) - begin_of(i));
  const std::uint64_t array_bytes = body_bytes(shape_);
  const std::uint64_t least = most + 2 * kChecksumChunkBytes;
  return least >= array_bytes ? array_bytes : std::clamp(options_.body_memory_bytes, least, array_bytes);
}

// The end of the whole chunks that neither this partition nor a later one changes.
std::uint64_t FilterBuilder::done_before(std::size_t partition) const noexcept {
  return begin_of(partition) / kChecksumChunkBytes * kChecksumChunkBytes;
}

// Makes a part of the array, up to `end`, and has finished chunks of it written while the rest is made.
void FilterBuilder::write_part(BodyWriter& writer, BodyPart part, std::size_t first_partition,
                               std::size_t end_partition, std::uint64_t end) {
  constexpr std::size_t kSteps = 16;
  const std::size_t at_once = std::max<std::size_t>(1, (end_partition - first_partition) / kSteps);
  std::uint64_t written = part.begin;
  for (std::size_t first = first_partition; first < end_partition; first += at_once) {
    const std::size_t behind = std::min(first + at_once, end_partition);
    set_bits(part, first, behind);
    const std::uint64_t done = behind == end_partition ? end : std::min(end, done_before(behind));
    std::byte* const ready = part.data + (written - part.begin);
    if (strangers_ != nullptr) strangers_->note_bits(shape_, {ready, written}, done);
    writer.write(written, {ready, done - written});
    written = done;
  }
}

// Makes the array, unless it exists already, and writes it part by part.
void FilterBuilder::write_parts(BodyWriter& writer) {
  const std::uint64_t array_bytes = body_bytes(shape_);
  if (!body_) body_.emplace(part_bytes(), "a part of the bit array; raise the limit on this program's memory");
  const std::span<std::byte> memory = body_->bytes();
  const std::size_t count = partitions_->partition_count();
  std::size_t first = 0;
  for (std::uint64_t begin = 0; begin < array_bytes;) {
    std::size_t end = first;
    while (end < count && end_of(end) - begin <= memory.size()) ++end;
    const std::uint64_t done = end == count ? array_bytes : done_before(end);
    write_part(writer, {memory.data(), begin}, first, end, done);
    writer.finish();
    if (end == count) break;
    const auto rest = memory.subspan(done - begin);
    std::ranges::copy(rest, memory.begin());
    std::ranges::fill(memory.subspan(rest.size()), std::byte{0});
    begin = done;
    first = end;
  }
}

// Writes the array, and the pages of the store beside it, from the same sorted partitions. Returns the number of ones
// in the array.
std::uint64_t FilterBuilder::write_sorted(FilterWriter& writer, const std::atomic<bool>& stop,
                                          WriteProgress& progress) {
  struct Scratch {
    std::vector<KeyHash> gathered;
    HashSorter sorter;
  };
  std::vector<Scratch> scratch(options_.threads);
  const auto partition_bits = static_cast<unsigned>(std::countr_zero(partitions_->partition_count()));
  SortedBuild build(writer, *store_, shape_, options_.threads, strangers_, stop, progress);
  std::size_t next = 0;
  build.run([&]() -> SortedBuild::MakePiece {
    if (next == partitions_->partition_count()) return {};
    return [&, partition = next++](unsigned thread, std::vector<KeyHash>& out) {
      auto& [gathered, sorter] = scratch[thread];
      gathered.clear();
      for_each_run(partition, [&gathered = gathered](std::span<const KeyHash> run) {
        gathered.insert(gathered.end(), run.begin(), run.end());
      });
      sorter.sort(gathered, partition_bits, out);
    };
  });
  return build.ones();
}

// Returns the number of different domain entries.
std::uint64_t FilterBuilder::write_domains(FilterWriter& writer, const std::atomic<bool>& stop) {
  if (domains() == 0) return 0;
  SectionStream section(writer.file(), SectionKind::domains);
  std::vector<KeyHash> all;
  domains_->for_each_sorted(options_.threads, [&](std::span<const KeyHash> hashes) {
    check_stop(stop);
    section.add(hashes);
    if (strangers_ != nullptr) std::ranges::unique_copy(hashes, std::back_inserter(all));
    if (store_) store_->add_domains(hashes);
  });
  if (strangers_ != nullptr) strangers_->note_domains(std::move(all));
  return section.finish();
}

FilterHeader FilterBuilder::write(const std::string& path, const std::atomic<bool>& stop, WriteProgress& progress,
                                  const std::function<void(const FilterHeader&)>& approve) {
  check_stop(stop);
  for (Lane& lane : lanes_) lane.settle();
  const std::uint64_t sized_for = options_.expected_entries.value_or(std::max<std::uint64_t>(1, addresses()));
  if (shape_.block_count == 0) {
    shape_.block_count = blocks_for(sized_for, options_.bits_per_entry, shape_.block_bytes);
  }
  FilterHeader header = {
      .shape = shape_, .expected_entries = sized_for, .addresses = addresses(), .domains = domains()};
  GatheredDomains::Counts of_senders;
  const bool has_store = !options_.store_path.empty();
  if (sender_domains_ && has_store) {
    of_senders = sender_domains_->unite(options_.threads);
    header.sender_domains = of_senders.numbers;
  } else if (sender_domains_) {
    header.sender_domains = sender_domains_->unite_and_estimate(options_.threads);
  }
  FilterWriter writer(path, header);
  if (has_store) {
    store_ = std::make_unique<StoreWriter>(options_.store_path, stored_shape(shape_), addresses(), domains(),
                                           options_.threads, of_senders.hashes);
    header.bits_set = write_sorted(writer, stop, progress);
  } else {
    BodyWriter body(writer, shape_, options_.threads, stop, progress);
    write_parts(body);
    header.bits_set = body.ones();
    header.saturated = body.saturated();
  }
  if (block_maker_ && block_maker_->counted() != 0) header.addresses = block_maker_->counted();
  header.domains = write_domains(writer, stop);
  header.kinds = limited(kinds(), header.addresses, header.domains);
  if (strangers_ != nullptr) write_excluded(writer, header, *strangers_, review_);
  if (sender_domains_ && has_store) {
    write_sender_domains(writer, header, store_.get(), *sender_domains_, options_.threads, stop);
  } else if (sender_domains_) {
    write_estimated_sender_domains(writer, header, *sender_domains_, options_.threads, stop);
  }
  if (approve) approve(header);
  check_stop(stop);
  if (store_) {
    store_->set_kinds(kinds());
    publish_pair(writer, header, path, *store_, options_.store_path, options_.threads, options_.kept_generations,
                 options_.sign_key.get());
  } else {
    writer.commit(header, options_.threads, keeping(options_.kept_generations), options_.sign_key.get());
  }
  return header;
}

}  // namespace bloomgate
