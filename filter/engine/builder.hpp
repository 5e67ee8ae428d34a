// From entries to a filter file. Used by `bloomgate build` and by tests.
//
// Call order: constructor, (expect | set_strangers)?, (add | lane().add | flush)*, write. The same entries (in any
// order), options and seed give the same bytes, whatever the number of threads and the memory.
//
// Addresses and pairs of addresses go into the bit array, domain entries and pairs with a domain into a section of
// their own. Below, "addresses" and "domain entries" include such pairs.
//
// Hashes are kept as a store keeps them. If the filter has a store, they are mixed with its seed when bits are set.
//
// If the number of addresses is known before the first one (options or expect()) and the bit array fits into memory,
// the array exists from the start. The builder then keeps hashes only until the working memory is full; flush() then
// sets their bits. Otherwise it keeps them until write(), in the working memory, and in a temporary file when that is
// full: 8 bytes per address in the layouts page, line and ribbon, 8 bytes for each of its k probes in the others.
// write() then makes and writes the array in parts that fit into memory. Two layouts always do so: ribbon, since a
// block is made of all its entries at once, and counting, where each entry must count once, however often it was added.
// For a domain entry the builder always keeps 8 bytes until write().
//
// Excluded senders (known_strangers.hpp) are compared with the entries wherever bits are set, since the entries are
// available there.
//
// With options.sender_domains the domains of all addresses are gathered, too (gathered_domains.hpp).
//
// Lanes are for worker threads: one thread at a time may use a lane, and different threads may use different lanes at
// once. Everything else is for one thread while no lane is in use.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/base/parallel.hpp"
#include "filter/domains/sender_domain.hpp"
#include "filter/engine/block_maker.hpp"
#include "filter/engine/write_progress.hpp"
#include "filter/file/file_format.hpp"
#include "filter/file/secret_key.hpp"
#include "filter/gather/gathered_domains.hpp"
#include "filter/gather/gathered_hashes.hpp"
#include "filter/gather/hash_partitions.hpp"
#include "filter/gather/hash_spill.hpp"
#include "filter/layout/layout.hpp"
#include "filter/system/anonymous_memory.hpp"

namespace bloomgate {

class BodyWriter;
class FilterWriter;
class KnownStrangers;
class StoreWriter;

struct BuildOptions {
  Layout layout = Layout::page;
  std::optional<std::uint32_t> block_bytes = {};  // within the layout's limits; its default otherwise
  HashFamily hash_family = HashFamily::xxh3;
  double bits_per_entry = 8;                             // 1 to 64
  std::uint32_t hashes = 6;                              // 1 to LayoutRules::most_hashes()
  std::optional<std::uint64_t> expected_entries = {};    // sizes the filter; without it the addresses are counted
  std::uint64_t seed = 0;                                // random_seed(), unless the same bytes are needed again
  AddressProfile profile = {};                           // must be the one that the entries were made with
  unsigned threads = 1;                                  // at least 1; as many lanes
  std::uint64_t memory_bytes = std::uint64_t{16} << 20;  // for hashes, beside the bit array; see kEntriesAtOnce
  // For the bit array, or for the part of it that is being made; at least some MiB.
  std::uint64_t body_memory_bytes = std::numeric_limits<std::uint64_t>::max();
  std::string scratch_folder = "/var/tmp";              // for the temporary file, if one is needed
  unsigned kept_generations = 0;                        // see keep_generation()
  std::shared_ptr<const SecretKey> sign_key = nullptr;  // signs the filter; null: the filter is not signed
  // Where to put the store, the exact set of the entries (StoreWriter); empty: no store. Only in layouts whose values
  // are hashes. With a store, all hashes are kept until write().
  std::string store_path = {};
  // The seed of the hashes that a store keeps; the filter mixes them with its own seed (mix_hash). Set it if a store is
  // added, which has such a seed. If a store is only written, the default is `seed`.
  std::optional<std::uint64_t> store_seed = {};
  // Whether the filter gets the domains of all senders, so that no sender at another domain is a false positive. A
  // store gets them, too.
  bool sender_domains = false;
};

// The shape of the filter for these options, without the number of blocks. Throws BloomgateError{bad_argument} for
// options out of range.
FilterShape shape_of(const BuildOptions& options);

// Whether all hashes are kept until write(): for a store, or for a layout that needs whole blocks.
bool keeps_all_hashes(const BuildOptions& options) noexcept;

class FilterBuilder {
 public:
  class alignas(64) Lane {  // cache lines that no other thread writes to
   public:
    // `sender_domains` is null if they are not gathered.
    Lane(HashPartitions::Lane& hashes, HashPartitions::Lane& domains, GatheredDomains::Lane* sender_domains,
         const FilterShape& shape)
        : hashes_(&hashes),
          domain_hashes_(&domains),
          sender_domains_(sender_domains),
          shape_(shape),
          rules_(&layout_rules(shape.layout)),
          value_is_hash_(rules_->value_is_hash()),
          values_per_entry_(rules_->values_per_entry(shape.hashes)) {}

    // `entry` must be a key (Entry::is_key()).
    void add(const Entry& entry) {
      if (goes_into_bits(entry.kind())) {
        const std::string_view domain = sender_domain_of(entry.key());
        entry.is_pair() ? add_pair(entry.key(), domain) : add_address(entry.key(), domain);
      } else {
        domain_hashes_->add(hash_of_domain(shape_, entry.key()));
        ++domains_;
        kinds_.note_kept_exactly(entry.kind());
        if (sender_domains_ != nullptr) sender_domains_->add_neighbours_of(entry.key());
      }
    }

    // The key of a pair of addresses, and the domain of its sender (sender_domain_of).
    void add_pair(std::string_view key, std::string_view domain) {
      if (sender_domains_ != nullptr) sender_domains_->add(domain);
      add_to_bits(key);
      ++kinds_.pairs_in_bits;
    }

    // The key of an address, as the canonicaliser makes it, and its domain.
    void add_address(std::string_view key, std::string_view domain) {
      if (sender_domains_ != nullptr) sender_domains_->add(domain);
      add_to_bits(key);
    }

    // Notes the pairs among stored hashes.
    void note_stored_kinds(const KindsHeld& kinds) noexcept { kinds_ += kinds; }
    // Adds hashes of addresses, of domain entries, or of the addresses' domains, from a store with
    // options.store_seed.
    void add_stored(std::span<const KeyHash> hashes) {
      for (const KeyHash hash : hashes) hashes_->add(hash);
      addresses_ += hashes.size();
    }
    // So many of these addresses were repeated.
    void note_repeated(std::uint64_t addresses) noexcept { addresses_ += addresses; }
    void add_stored_domains(std::span<const KeyHash> hashes) {
      for (const KeyHash hash : hashes) domain_hashes_->add(hash);
      domains_ += hashes.size();
    }
    void add_stored_sender_domains(std::span<const KeyHash> hashes) {
      if (sender_domains_ != nullptr) sender_domains_->add_stored(hashes);
    }

    // The worker calls this when it pauses or ends; see HashPartitions::Lane.
    void settle() {
      hashes_->settle();
      domain_hashes_->settle();
      if (sender_domains_ != nullptr) sender_domains_->settle();
    }

   private:
    friend class FilterBuilder;
    void add_to_bits(std::string_view key) {
      if (value_is_hash_) {
        hashes_->add(stored_hash(shape_, key));
      } else {
        add_values(key);
      }
      ++addresses_;
    }
    void add_values(std::string_view key);

    HashPartitions::Lane* hashes_;
    HashPartitions::Lane* domain_hashes_;
    GatheredDomains::Lane* sender_domains_;
    FilterShape shape_;
    const LayoutRules* rules_;
    bool value_is_hash_;
    std::uint32_t values_per_entry_;
    std::uint64_t addresses_ = 0;
    std::uint64_t domains_ = 0;
    KindsHeld kinds_ = {};
  };

  // Throws BloomgateError{bad_argument} for options out of range, {out_of_memory, size_overflow}.
  explicit FilterBuilder(const BuildOptions& options);
  ~FilterBuilder();
  FilterBuilder(const FilterBuilder&) = delete;
  FilterBuilder& operator=(const FilterBuilder&) = delete;

  // Sizes the filter for that many addresses, as options.expected_entries does. Only before the first entry. Throws
  // BloomgateError{out_of_memory, size_overflow}.
  void expect(std::uint64_t entries);

  // Addresses that the filter must not list. They must be settled, made for shape_of(), and live until write() ends.
  // Only before the first entry. write() calls `review` when it has noted everything about them, and before it
  // publishes anything: if `review` throws, the build ends. Throws BloomgateError{bad_argument} in the layout counting.
  void set_strangers(KnownStrangers& strangers, std::function<void()> review = {});

  // For one thread: adds an entry through the first lane, and calls flush() when needed.
  void add(const Entry& entry);

  Lane& lane(unsigned index) noexcept { return lanes_[index]; }
  bool gathers_sender_domains() const noexcept { return sender_domains_ != nullptr; }

  // Whether each lane can take that many more entries before a flush(). Safe from any thread.
  bool has_room_for(std::uint64_t entries) const noexcept {
    return partitions_->has_room_for(entries * lanes_.front().values_per_entry_) && domains_->has_room_for(entries) &&
           (!sender_domains_ || sender_domains_->has_room_for(entries));
  }

  // Makes room: sets the bits of the added entries, or puts their hashes into the temporary file. Throws
  // BloomgateError{cannot_write} if the file cannot be written.
  void flush();

  // Counts of what was added, duplicates counted each time.
  std::uint64_t addresses() const noexcept;
  std::uint64_t domains() const noexcept;
  KindsHeld kinds() const noexcept;

  // Bytes that went through temporary files.
  std::uint64_t spilled_bytes() const noexcept {
    return (spill_ ? spill_->bytes() : 0) + domains_->spilled_bytes() +
           (sender_domains_ ? sender_domains_->spilled_bytes() : 0);
  }

  // Builds the filter, reads it back, checks it, and puts it at `path` (see FilterWriter). If `stop` turns true
  // meanwhile, throws BloomgateError{interrupted} and leaves nothing behind. Also throws what FilterWriter and
  // HashSpill throw, and BloomgateError{out_of_memory, size_overflow}. Returns the header as written.
  // The store is published with it: if the process ends before write() does, the two files are still a pair that
  // open_store() opens, the old or the new one.
  // Calls `approve`, if given, with the header once all is written and nothing is published; passes on what it throws.
  FilterHeader write(const std::string& path, const std::atomic<bool>& stop, WriteProgress& progress,
                     const std::function<void(const FilterHeader&)>& approve = {});
  FilterHeader write(const std::string& path, const std::atomic<bool>& stop) {
    WriteProgress unseen;
    return write(path, stop, unseen);
  }

 private:
  void make_partitions();
  void spill();
  std::uint64_t begin_of(std::size_t partition) const noexcept;
  std::uint64_t end_of(std::size_t partition) const noexcept;
  std::uint64_t done_before(std::size_t partition) const noexcept;
  std::uint64_t part_bytes() const noexcept;
  template <typename Visit>
  void for_each_run(std::size_t partition, Visit visit) const;
  template <typename Visit>
  void for_each_value_run(std::size_t partition, Visit visit) const;
  void set_bits(BodyPart part, std::size_t first_partition, std::size_t end_partition);
  void write_part(BodyWriter& writer, BodyPart part, std::size_t first_partition, std::size_t end_partition,
                  std::uint64_t end);
  void write_parts(BodyWriter& writer);
  std::uint64_t write_sorted(FilterWriter& writer, const std::atomic<bool>& stop, WriteProgress& progress);
  std::uint64_t write_domains(FilterWriter& writer, const std::atomic<bool>& stop);

  BuildOptions options_;
  FilterShape shape_;
  std::unique_ptr<HashPartitions> partitions_;
  std::unique_ptr<HashSpill> spill_;
  std::unique_ptr<GatheredHashes> domains_;
  std::unique_ptr<GatheredDomains> sender_domains_;  // if the filter gets them
  std::vector<Lane> lanes_;
  std::optional<AnonymousMemory> body_;      // the whole array, if it exists from the start
  std::unique_ptr<BlockMaker> block_maker_;  // in layouts that need whole blocks
  std::unique_ptr<StoreWriter> store_;       // while write() runs, if a store is written
  KnownStrangers* strangers_ = nullptr;      // if there are any
  std::function<void()> review_;
};

}  // namespace bloomgate
