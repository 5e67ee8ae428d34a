// The domains of all addresses, for a section `sender-domains`: several threads gather them as hashes, each usually
// once, and they are read out in ascending order. Used by the builder and by an update.
//
// Most addresses have a domain that another address had shortly before. So a table keeps the recent domains
// (recent_domains.hpp). When memory is full, duplicates are removed from the other domains, which go to disk only if
// there are more different domains than fit.
//
// Lanes are for worker threads: one thread at a time may use a lane, and different threads may use different lanes at
// once. Everything else needs all lanes to be unused.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/domains/domain_coding.hpp"
#include "filter/domains/neighbours.hpp"
#include "filter/gather/gathered_hashes.hpp"
#include "filter/gather/recent_domains.hpp"
#include "filter/store/store_format.hpp"

namespace bloomgate {

class GatheredDomains {
 public:
  class alignas(64) Lane {  // cache lines that no other thread writes to
   public:
    Lane(HashPartitions::Lane& hashes, const RecentDomains& recent, const StoreShape& shape)
        : hashes_(&hashes), shape_(shape), recent_(recent) {}

    // Adds the key `@domain` of a sender's domain.
    void add(std::string_view domain_key) {
      recent_.add(hash_key(domain_key, shape_.seed, shape_.hash_family), [this](KeyHash hash) { hashes_->add(hash); });
    }
    // Adds the key that an entry, which is kept exactly, shares with its neighbours, if it has such a key.
    void add_neighbours_of(std::string_view key) {
      const NeighboursKey neighbours = neighbours_key(key);
      if (!neighbours.view().empty()) add(neighbours.view());
    }
    // Adds hashes of such keys from a store.
    void add_stored(std::span<const KeyHash> hashes) {
      for (const KeyHash hash : hashes) hashes_->add(hash);
    }
    // The worker calls this when it pauses or ends.
    void settle() {
      recent_.settle([this](KeyHash hash) { hashes_->add(hash); });
      hashes_->settle();
    }

   private:
    friend class GatheredDomains;

    HashPartitions::Lane* hashes_;
    StoreShape shape_;
    RecentDomains::Lane recent_;
  };

  // `shape` says how keys are hashed. Uses `memory_bytes` for all lanes, half of it for the table; or the minimum that
  // the lanes need, if that is more. Throws BloomgateError{out_of_memory}.
  GatheredDomains(const StoreShape& shape, unsigned lanes, std::uint64_t memory_bytes, std::string scratch_folder);

  Lane& lane(unsigned index) noexcept { return lanes_[index]; }

  // Whether every lane can take that many more domains before make_room(). Safe from any thread.
  bool has_room_for(std::uint64_t domains) const noexcept {
    return hashes_.has_room_for(domains + RecentDomains::kMostPutOff);
  }
  // Makes room for kEntriesAtOnce in each lane. Throws as GatheredHashes::make_room_by_uniting(), and
  // BloomgateError{out_of_memory}.
  void make_room(unsigned threads);

  // Call `use` with runs of the hashes, or of the numbers of the domains, all in ascending order; two hashes may
  // have one number. Throw what `use` throws and BloomgateError{cannot_read}.
  void for_each_hash(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use) const {
    hashes_.for_each_once(threads, use);
  }
  void for_each_number(unsigned threads, const std::function<void(std::span<const DomainNumber>)>& use) const;

  struct Counts {
    std::uint64_t hashes = 0;
    std::uint64_t numbers = 0;  // occasionally two hashes have one number
  };
  // Removes duplicates if the hashes fit into memory, and counts the different ones. Call it when all are added. Throws
  // as for_each_number(), and BloomgateError{size_overflow} for more than a filter can have.
  Counts unite(unsigned threads);
  // The same, but if some are on disk, the count of the numbers is an estimate, since to count them takes as long as to
  // sort them.
  std::uint64_t unite_and_estimate(unsigned threads);

  std::uint64_t spilled_bytes() const noexcept { return hashes_.spilled_bytes(); }

 private:
  RecentDomains recent_;
  GatheredHashes hashes_;
  std::vector<Lane> lanes_;
};

}  // namespace bloomgate
