// From entries to a filter file. Used by `bloomgate build` and by tests.
//
// Call order: constructor, (expect)?, (add | lane().add | flush)*, write. The same entries (in any order), options and
// seed give the same bytes, whatever the number of threads and the memory.
//
// Where the number of entries is known before the first one (options or expect()) and memory has room for the bit
// array, that is there from the start, and hashes are kept only until the working memory is full: then flush() sets
// their bits. Otherwise they are kept until write(), 8 bytes an entry in the layouts page and line, 8 for each of its k
// probes in the others: in the working memory, and in a temporary file where that is full. The array is then made and
// written part by part, of which each fits into memory.
//
// Lanes are for worker threads: each lane may be used by one thread at a time, different lanes at once. Everything else
// is for one thread while no lane is in use.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/base/anonymous_memory.hpp"
#include "filter/base/parallel.hpp"
#include "filter/build/hash_partitions.hpp"
#include "filter/build/hash_spill.hpp"
#include "filter/file/file_format.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate {

class FilterWriter;

// Entries that every lane can take at once: room for so many is made however little memory is allowed.
inline constexpr std::uint64_t kEntriesAtOnce = 400'000;

struct BuildOptions {
  Layout layout = Layout::page;
  std::optional<std::uint32_t> block_bytes = {};  // within the layout's limits; its default otherwise
  HashFamily hash_family = HashFamily::xxh3;
  double bits_per_entry = 8;                             // 1 to 64
  std::uint32_t hashes = 6;                              // 1 to kMaxHashes
  std::optional<std::uint64_t> expected_entries = {};    // sizes the filter; without it the entries are counted
  std::uint64_t seed = 0;                                // random_seed(), unless the same bytes are wanted again
  AddressProfile profile = {};                           // must be the one that the entries were made with
  unsigned threads = 1;                                  // at least 1; as many lanes
  std::uint64_t memory_bytes = std::uint64_t{16} << 20;  // for hashes, beside the bit array; see kEntriesAtOnce
  // For the bit array, or its part that is being made; at least some MiB are taken.
  std::uint64_t body_memory_bytes = std::numeric_limits<std::uint64_t>::max();
  std::string scratch_folder = "/var/tmp";  // of the temporary file, if one is needed
};

// How far FilterBuilder::write() has come with the bit array. Safe from any thread.
struct WriteProgress {
  std::atomic<std::uint64_t> done_bytes{0};
  std::atomic<std::uint64_t> total_bytes{0};  // 0: not begun; when all are done, they are read back
};

class FilterBuilder {
 public:
  class Lane {
   public:
    Lane(HashPartitions::Lane& hashes, const FilterShape& shape)
        : hashes_(&hashes),
          shape_(shape),
          rules_(&layout_rules(shape.layout)),
          value_is_hash_(rules_->value_is_hash()),
          values_per_entry_(rules_->values_per_entry(shape.hashes)) {}

    // `entry` must be a key (Entry::is_key()).
    void add(const Entry& entry) {
      has_domains_ |= entry.kind() == EntryKind::domain;
      has_domain_trees_ |= entry.kind() == EntryKind::domain_tree;
      add_address(entry.key());
    }

    // The key of an address, as the canonicaliser makes it.
    void add_address(std::string_view key) {
      if (value_is_hash_) {
        hashes_->add(hash_key(key, shape_.seed, shape_.hash_family));
      } else {
        add_values(key);
      }
      ++entries_;
    }

    // To be called by the worker when it is done for now; see HashPartitions::Lane.
    void settle() noexcept { hashes_->settle(); }

   private:
    friend class FilterBuilder;
    void add_values(std::string_view key);

    HashPartitions::Lane* hashes_;
    FilterShape shape_;
    const LayoutRules* rules_;
    bool value_is_hash_;
    std::uint32_t values_per_entry_;
    std::uint64_t entries_ = 0;
    bool has_domains_ = false;
    bool has_domain_trees_ = false;
  };

  // Throws BloomgateError{bad_argument} for options out of range, {out_of_memory, size_overflow}.
  explicit FilterBuilder(const BuildOptions& options);
  ~FilterBuilder();
  FilterBuilder(const FilterBuilder&) = delete;
  FilterBuilder& operator=(const FilterBuilder&) = delete;

  // Sizes the filter for that many entries, as options.expected_entries would have. Before the first entry only. Throws
  // BloomgateError{out_of_memory, size_overflow}.
  void expect(std::uint64_t entries);

  // For one thread: an entry through the first lane, with flush() where it is time.
  void add(const Entry& entry);

  Lane& lane(unsigned index) noexcept { return lanes_[index]; }

  // Whether each lane can take that many more entries before a flush(). Safe from any thread.
  bool has_room_for(std::uint64_t entries) const noexcept {
    return partitions_->has_room_for(entries * lanes_.front().values_per_entry_);
  }

  // Makes room: sets the bits of what was added, or puts it into the temporary file. Throws
  // BloomgateError{cannot_write} where the latter is not possible.
  void flush();

  std::uint64_t entries() const noexcept;

  // Bytes that went through the temporary file.
  std::uint64_t spilled_bytes() const noexcept { return spill_ ? spill_->bytes() : 0; }

  // Builds the filter and puts it at `path` (see FilterWriter), after reading back what was written and checking it.
  // Where `stop` turns true on the way it gives up with BloomgateError{interrupted} and leaves nothing behind. Throws
  // BloomgateError also for what FilterWriter and HashSpill throw and {out_of_memory, size_overflow}. Gives the header
  // as written.
  FilterHeader write(const std::string& path, const std::atomic<bool>& stop, WriteProgress& progress);
  FilterHeader write(const std::string& path, const std::atomic<bool>& stop) {
    WriteProgress unseen;
    return write(path, stop, unseen);
  }

 private:
  void make_partitions();
  void spill();
  std::uint64_t begin_of(std::size_t partition) const noexcept;
  std::uint64_t end_of(std::size_t partition) const noexcept;
  std::uint64_t part_bytes() const noexcept;
  void set_bits(BodyPart part, std::size_t first_partition, std::size_t end_partition);
  std::uint64_t write_parts(FilterWriter& writer, const std::atomic<bool>& stop, WriteProgress& progress);

  BuildOptions options_;
  FilterShape shape_;
  std::unique_ptr<HashPartitions> partitions_;
  std::unique_ptr<HashSpill> spill_;
  std::vector<Lane> lanes_;
  std::optional<AnonymousMemory> body_;  // all of it, from the start
};

}  // namespace bloomgate
