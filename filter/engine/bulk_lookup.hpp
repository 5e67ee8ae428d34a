// Counts how many of a great many keys a filter holds, at the speed at which it was built. It hashes keys and sorts
// them by their part of the array, as the builder does (hash_partitions.hpp), and then reads each part while it is in
// the cache. It does not report which key was found; for that, and for few keys, use LookupBatch.
//
// Used by `bloomgate query --count` and `verify`. Lanes are for worker threads: one thread at a time may use a lane,
// and different threads may use different lanes at once. Everything else is for one thread while no lane is in use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "filter/gather/hash_partitions.hpp"
#include "filter/layout/filter_view.hpp"

namespace bloomgate {

class BulkLookup {
 public:
  // A bit for each piece of the range of domains, which is set if the piece has a domain. It alone decides for most
  // unknown domains.
  struct DomainBits {
    explicit DomainBits(const SenderDomains& domains);
    bool may_have(DomainNumber domain) const noexcept {
      const std::uint64_t bit = domain >> shift;
      return words.empty() || (words[bit / 64] >> bit % 64 & 1) != 0;
    }

    std::vector<std::uint64_t> words = {};  // empty if there would be too many
    unsigned shift = 0;
  };

  class Lane {
   public:
    Lane(HashPartitions::Lane& hashes, const FilterView& view, const DomainBits& bits)
        : hashes_(&hashes), view_(&view), bits_(&bits), shape_(view.shape()) {}

    static constexpr std::size_t kMostWaiting = 64;  // keys whose domains are not looked up yet

    // The key of an address, or of a pair of addresses.
    void add(std::string_view key) {
      ++keys_;
      if (!view_->sender_domains().is_there()) return hashes_->add(hash_of_address(shape_, key));
      const DomainNumber domain = view_->sender_domain_number(key);
      const bool is_known = domain_is_known(domain);
      if (!is_known && !bits_->may_have(domain)) return;
      const KeyHash hash = hash_of_address(shape_, key);
      if (is_known) return hashes_->add(hash);
      view_->sender_domains().prefetch(domain);
      waiting_[waiting_count_++] = {.hash = hash, .domain = domain};
      if (waiting_count_ == waiting_.size()) look_up_domains();
    }
    // Counts an entry that the caller already knows to be in the filter.
    void add_found() noexcept {
      ++found_at_once_;
      ++keys_;
    }
    // The key of a domain entry; looked up at once.
    void add_domain(std::string_view key) noexcept {
      found_at_once_ += view_->contains_domain(key) ? 1U : 0U;
      ++keys_;
    }
    // The worker calls this when it pauses or ends.
    void settle() {
      look_up_domains();
      hashes_->settle();
    }

   private:
    friend class BulkLookup;

    // A key whose domain is still to be looked up.
    struct Waiting {
      KeyHash hash = 0;
      DomainNumber domain = 0;
      SenderDomains::Group group = {};  // where the domain is, after prefetch_group()
    };
    static constexpr std::size_t kKnownDomains = 4096;

    bool domain_is_known(DomainNumber domain) const noexcept { return known_[domain % kKnownDomains] == domain + 1; }
    void look_up_domains();

    HashPartitions::Lane* hashes_;
    const FilterView* view_;
    const DomainBits* bits_;
    FilterShape shape_;
    std::uint64_t keys_ = 0;
    std::uint64_t found_at_once_ = 0;
    std::array<Waiting, kMostWaiting> waiting_ = {};
    std::size_t waiting_count_ = 0;
    // Domains that were found, plus 1: most keys of a list have a domain that another key had shortly before.
    std::vector<DomainNumber> known_ = std::vector<DomainNumber>(kKnownDomains);
  };

  // Whether the filter's layout allows it: an entry must be one value.
  static bool suits(const FilterView& view) noexcept;

  // `memory_bytes` is for the hashes. Little memory costs time, but each lane gets what it needs. In addition, up to
  // 16 million sender domains take two to four bytes each. Throws BloomgateError{out_of_memory}.
  BulkLookup(const FilterView& view, unsigned threads, std::uint64_t memory_bytes);
  BulkLookup(const BulkLookup&) = delete;
  BulkLookup& operator=(const BulkLookup&) = delete;

  Lane& lane(unsigned index) noexcept { return lanes_[index]; }

  // Whether each lane can take that many more keys before a look_up(). Safe from any thread.
  bool has_room_for(std::uint64_t keys) const noexcept {
    return partitions_.has_room_for(view_.sender_domains().is_there() ? keys + Lane::kMostWaiting : keys);
  }

  // Looks up the keys that were added, and makes room for others. All lanes must be settled.
  void look_up();

  // Counts the keys that were added and looked up.
  std::uint64_t keys() const noexcept;
  std::uint64_t found() const noexcept;

 private:
  FilterView view_;
  unsigned threads_;
  HashPartitions partitions_;
  DomainBits domain_bits_;
  std::vector<Lane> lanes_;
  std::uint64_t found_ = 0;
};

}  // namespace bloomgate
