// An old store in an update by several ranks. Each rank has an even range of the hashes that the store keeps: it gets
// the changes in that range, reads the pages of it, and passes on the new store's hashes there. Changes of domain
// entries, which are few, are all at rank 0.
//
// The new addresses can be counted only when all changes are there, and only then is it known which rank has which part
// of the new filter. That part is nearly the range of the old store that the rank merges, so few hashes then go to
// another rank.
//
// For one thread. Call order: constructor, gather into added() and removed(), count, domains, merge_into.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "filter/engine/store_merge.hpp"
#include "filter/gather/gathered_entries.hpp"
#include "filter/mpi/communicator.hpp"
#include "filter/mpi/hash_exchange.hpp"
#include "filter/mpi/shared_array.hpp"
#include "filter/store/store_file.hpp"

namespace bloomgate::mpi {

class OldStore {
 public:
  // Half of the memory is for the added entries, half for the removed ones. The store and the communicator must outlive
  // it.
  // Throws BloomgateError{out_of_memory}.
  OldStore(const Communicator& communicator, const StoreFile& store, unsigned threads, std::uint64_t memory_bytes,
           const std::string& scratch_folder);

  // For a HashExchange: with these it brings changes to the ranks that have their ranges.
  const FilterShape& shape() const noexcept { return shape_; }
  const SharedArray& ranges() const noexcept { return ranges_; }

  GatheredEntries& added() noexcept { return added_; }
  GatheredEntries& removed() noexcept { return removed_; }

  // Collective. Compares the changes with the store. Returns the counts of addresses only, of all ranks. Throws
  // BloomgateError{interrupted}, and what reading the store throws.
  UpdateCounts count(const std::atomic<bool>& stop);
  // The new domain entries in ascending order, at rank 0; nothing at the others. Adds to `counts` at rank 0. Throws as
  // count().
  std::vector<KeyHash> domains(UpdateCounts& counts) const;

  // Passes the new addresses of this rank's range to an exchange; call its finish() afterwards. Returns how many of the
  // old addresses it has met. Throws as count(), BloomgateError{changed_while_open}, and what the exchange throws.
  std::uint64_t merge_into(HashExchange& exchange, const std::atomic<bool>& stop);

 private:
  const Communicator& communicator_;
  const StoreFile& store_;
  unsigned threads_;
  FilterShape shape_;
  SharedArray ranges_;
  GatheredEntries added_;
  GatheredEntries removed_;
  StoreMerge merge_;
};

// Add hashes of addresses, or of domain entries, and make room first if there is none. Throw
// BloomgateError{cannot_write}.
void gather(GatheredEntries& entries, std::span<const KeyHash> addresses);
void gather_domains(GatheredEntries& entries, std::span<const KeyHash> domains);

}  // namespace bloomgate::mpi
