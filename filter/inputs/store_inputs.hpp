// Stores as inputs of `bloomgate build` and `update-store`: their hashes go into the builder as they are, beside those
// of lists. Used by one thread, which starts several others.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "filter/engine/builder.hpp"
#include "filter/ingest/except_list.hpp"
#include "filter/store/store_file.hpp"

namespace bloomgate {

// Throws BloomgateError{bad_argument} unless both make hashes in the same way: the same seed, family and profile.
void require_one_shape(const StoreFile& a, const StoreFile& b);

class StoreInputs {
 public:
  StoreInputs() = default;

  // Opens the stores among `files`, and removes them from `files`. Throws what StoreFile throws, and
  // BloomgateError{bad_argument} in two cases: the stores do not make hashes in the same way (seed, family, profile),
  // or one is a part, and not each of its parts is there exactly once.
  explicit StoreInputs(std::vector<std::string>& files);

  bool empty() const noexcept { return stores_.empty(); }
  const std::vector<std::unique_ptr<StoreFile>>& stores() const noexcept { return stores_; }

  // How all of them make hashes. There must be at least one store.
  const StoreShape& shape() const noexcept { return stores_.front()->header().shape; }

  // Whether a filter that is made from them can have the domains of its senders.
  bool know_sender_domains() const noexcept;

  // The sum over all of them; an address that is in several stores counts in each.
  std::uint64_t addresses() const noexcept;

  // Bytes of all of them, and those that were read. Safe from any thread.
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  std::uint64_t done_bytes() const noexcept { return done_bytes_.load(std::memory_order_relaxed); }

  // Adds all entries except the exceptions to the builder, which is a FilterBuilder or GatheredEntries, with a thread
  // for each of its lanes. Returns how many entries were left out. Throws BloomgateError{bad_argument} if an exception
  // is for a domain, {interrupted} if `stop` turned true, and what StoreFile and the builder throw.
  template <typename Builder>
  std::uint64_t add_to(Builder& builder, unsigned threads, const ExceptList& exceptions, const std::atomic<bool>& stop);

 private:
  std::vector<std::unique_ptr<StoreFile>> stores_;
  std::uint64_t total_bytes_ = 0;
  std::atomic<std::uint64_t> done_bytes_{0};
};

}  // namespace bloomgate
