#include "filter/builder.hpp"

#include <algorithm>
#include <new>

#include "filter/error.hpp"
#include "filter/filter_writer.hpp"
#include "filter/page_layout.hpp"
#include "filter/sizing.hpp"

namespace bloomgate {
namespace {

void check_stop(const std::atomic<bool>& stop) {
  if (stop.load(std::memory_order_relaxed)) {
    throw BloomgateError(ErrorCode::interrupted, "stopped before the filter was complete; nothing was changed");
  }
}

std::vector<std::byte> allocate_body(std::uint64_t bytes) {
  try {
    return std::vector<std::byte>(bytes);
  } catch (const std::exception&) {  // bad_alloc, or length_error past the address space
    throw BloomgateError(ErrorCode::out_of_memory, "no memory for a bit array of " + std::to_string(bytes) +
                                                       " bytes; ask for fewer bits per entry or expect fewer entries");
  }
}

}  // namespace

FilterBuilder::FilterBuilder(const BuildOptions& options) : options_(options) {
  if (options.hashes < 1 || options.hashes > kMaxHashes) {
    throw BloomgateError(ErrorCode::bad_argument, "the number of hashes must be between 1 and " +
                                                      std::to_string(kMaxHashes) + ", not " +
                                                      std::to_string(options.hashes));
  }
  blocks_for(1, options.bits_per_entry, page_layout::kBlockBytes);
}

void FilterBuilder::add(const Entry& entry) {
  has_domains_ |= entry.kind() == EntryKind::domain;
  has_domain_trees_ |= entry.kind() == EntryKind::domain_tree;
  const KeyHash hash = hash_key(entry.key(), options_.seed);
  partitions_[hash >> (64 - kPartitionBits)].push_back(hash);
  ++entries_;
}

FilterHeader FilterBuilder::write(const std::string& path, const std::atomic<bool>& stop) const {
  FilterHeader header;
  header.expected_entries = std::max<std::uint64_t>(1, options_.expected_entries.value_or(entries_));
  header.entries = entries_;
  header.shape = {.hashes = options_.hashes,
                  .block_bytes = page_layout::kBlockBytes,
                  .block_count = blocks_for(header.expected_entries, options_.bits_per_entry, page_layout::kBlockBytes),
                  .seed = options_.seed,
                  .profile = options_.profile,
                  .has_domains = has_domains_,
                  .has_domain_trees = has_domain_trees_};
  check_stop(stop);
  FilterWriter writer(path, header.shape);
  std::vector<std::byte> body = allocate_body(file_extent(header.shape).body_bytes);
  for (const std::vector<KeyHash>& partition : partitions_) {
    check_stop(stop);
    for (const KeyHash hash : partition) {
      const std::uint64_t block = page_layout::block_of(hash, header.shape.block_count);
      page_layout::insert(body.data() + block * page_layout::kBlockBytes, hash, header.shape.hashes);
    }
  }
  header.bits_set = FilterView(header.shape, body).count_ones();
  check_stop(stop);
  writer.write_body(0, body);
  check_stop(stop);
  writer.commit(header);
  return header;
}

}  // namespace bloomgate
