// The entries of lists as hashes of a store, for an update: several threads gather them, they go to disk when memory is
// full, and they are read out in ascending order.
//
// The interface is that of FilterBuilder: lanes are for worker threads, one thread at a time may use a lane, and
// different threads may use different lanes at once. Everything else is for one thread while no lane is in use.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/domains/sender_domain.hpp"
#include "filter/gather/gathered_domains.hpp"
#include "filter/gather/gathered_hashes.hpp"
#include "filter/store/store_format.hpp"

namespace bloomgate {

class GatheredEntries {
 public:
  class alignas(64) Lane {  // cache lines that no other thread writes to
   public:
    // `sender_domains` is null if they are not gathered.
    Lane(HashPartitions::Lane& addresses, HashPartitions::Lane& domains, GatheredDomains::Lane* sender_domains,
         const StoreShape& shape)
        : addresses_(&addresses), domains_(&domains), sender_domains_(sender_domains), shape_(shape) {}

    // `entry` must be a key (Entry::is_key()).
    void add(const Entry& entry) {
      if (entry.kind() == EntryKind::pair) return add_pair(entry.key(), sender_domain_of(entry.key()));
      if (entry.kind() == EntryKind::address) return add_address(entry.key(), domain_of_address(entry.key()));
      kinds_.note_kept_exactly(entry.kind());
      add_domain(entry.key());
      if (sender_domains_ != nullptr) sender_domains_->add_neighbours_of(entry.key());
    }
    // The key of a pair of addresses, and the domain of its sender (sender_domain_of).
    void add_pair(std::string_view key, std::string_view domain) {
      if (sender_domains_ != nullptr) sender_domains_->add(domain);
      addresses_->add(hash(key));
      ++kinds_.pairs_in_bits;
      ++added_;
    }
    // The key of an address, and its domain.
    void add_address(std::string_view key, std::string_view domain) {
      if (sender_domains_ != nullptr) sender_domains_->add(domain);
      addresses_->add(hash(key));
      ++added_;
    }
    void add_domain(std::string_view key) { domains_->add(hash(key)); }
    // Notes the pairs among stored hashes.
    void note_stored_kinds(const KindsHeld& kinds) noexcept { kinds_ += kinds; }
    // Adds hashes of addresses, of domain entries, or of the addresses' domains, from a store of the same shape.
    void add_stored(std::span<const KeyHash> hashes) {
      for (const KeyHash hash : hashes) addresses_->add(hash);
      added_ += hashes.size();
    }
    // So many of these addresses were repeated.
    void note_repeated(std::uint64_t addresses) noexcept { added_ += addresses; }
    void add_stored_domains(std::span<const KeyHash> hashes) {
      for (const KeyHash hash : hashes) domains_->add(hash);
    }
    void add_stored_sender_domains(std::span<const KeyHash> hashes) {
      if (sender_domains_ != nullptr) sender_domains_->add_stored(hashes);
    }
    // The worker calls this when it pauses or ends.
    void settle() {
      addresses_->settle();
      domains_->settle();
      if (sender_domains_ != nullptr) sender_domains_->settle();
    }

    const KindsHeld& kinds() const noexcept { return kinds_; }
    std::uint64_t added() const noexcept { return added_; }

   private:
    KeyHash hash(std::string_view key) const noexcept { return hash_key(key, shape_.seed, shape_.hash_family); }

    HashPartitions::Lane* addresses_;
    HashPartitions::Lane* domains_;
    GatheredDomains::Lane* sender_domains_;
    StoreShape shape_;
    KindsHeld kinds_ = {};
    std::uint64_t added_ = 0;  // addresses and pairs of addresses
  };

  // With `sender_domains` the domains of the addresses are gathered, too. Throws BloomgateError{out_of_memory}.
  GatheredEntries(const StoreShape& shape, unsigned threads, std::uint64_t memory_bytes,
                  const std::string& scratch_folder, bool sender_domains = false);

  Lane& lane(unsigned index) noexcept { return lanes_[index]; }

  // Whether each lane can take that many more entries before a flush(). Safe from any thread.
  bool has_room_for(std::uint64_t entries) const noexcept {
    return addresses_.has_room_for(entries) && domains_.has_room_for(entries) &&
           (!sender_domains_ || sender_domains_->has_room_for(entries));
  }

  // Makes room, in a temporary file. Throws BloomgateError{cannot_write}.
  void flush();

  // Adds hashes of sender domains from another source, and makes room first if there is none. Throws as flush().
  void add_stored_sender_domains(std::span<const KeyHash> hashes);

  // Of all lanes, duplicates counted: the kinds of entries, and the number of addresses, including pairs of them.
  KindsHeld kinds() const noexcept;
  std::uint64_t added() const noexcept;

  const GatheredHashes& addresses() const noexcept { return addresses_; }
  const GatheredHashes& domains() const noexcept { return domains_; }
  // Null if they are not gathered.
  GatheredDomains* sender_domains() noexcept { return sender_domains_ ? &*sender_domains_ : nullptr; }
  bool gathers_sender_domains() const noexcept { return sender_domains_.has_value(); }

  // Bytes that went through temporary files.
  std::uint64_t spilled_bytes() const noexcept {
    return addresses_.spilled_bytes() + domains_.spilled_bytes() +
           (sender_domains_ ? sender_domains_->spilled_bytes() : 0);
  }

 private:
  unsigned threads_;
  GatheredHashes addresses_;
  GatheredHashes domains_;
  std::optional<GatheredDomains> sender_domains_;
  std::vector<Lane> lanes_;
};

}  // namespace bloomgate
