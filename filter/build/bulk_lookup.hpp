// How many of very many keys a filter holds, at the speed at which it was built: keys are hashed and sorted by the part
// of the array that they belong to, as the builder does (hash_partitions.hpp), and each part is then read while it sits
// in the cache. Which key was found is not known; for that, and for few keys, there is LookupBatch.
//
// Used by `bloomgate query --count` and `verify`. Lanes are for worker threads: each may be used by one thread at a
// time, different lanes at once; everything else is for one thread while no lane is in use.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "filter/build/hash_partitions.hpp"
#include "filter/layout/filter_view.hpp"

namespace bloomgate {

class BulkLookup {
 public:
  class Lane {
   public:
    Lane(HashPartitions::Lane& hashes, const FilterShape& shape)
        : hashes_(&hashes), seed_(shape.seed), hash_family_(shape.hash_family) {}

    void add(std::string_view key) {
      hashes_->add(hash_key(key, seed_, hash_family_));
      ++keys_;
    }
    // To be called by the worker when it is done for now.
    void settle() noexcept { hashes_->settle(); }

   private:
    friend class BulkLookup;
    HashPartitions::Lane* hashes_;
    std::uint64_t seed_;
    HashFamily hash_family_;
    std::uint64_t keys_ = 0;
  };

  // Whether the filter's layout allows it: an entry must be one value.
  static bool suits(const FilterView& view) noexcept;

  // `memory_bytes` for the hashes: kept small it costs time, but each lane gets what it needs. Throws
  // BloomgateError{out_of_memory}.
  BulkLookup(const FilterView& view, unsigned threads, std::uint64_t memory_bytes);

  Lane& lane(unsigned index) noexcept { return lanes_[index]; }

  // Whether each lane can take that many more keys before a look_up(). Safe from any thread.
  bool has_room_for(std::uint64_t keys) const noexcept { return partitions_.has_room_for(keys); }

  // Looks up the keys that were added, and makes room for others. All lanes must be settled.
  void look_up();

  // Of the keys that were added and looked up.
  std::uint64_t keys() const noexcept;
  std::uint64_t found() const noexcept { return found_; }

 private:
  FilterView view_;
  unsigned threads_;
  HashPartitions partitions_;
  std::vector<Lane> lanes_;
  std::uint64_t found_ = 0;
};

}  // namespace bloomgate
