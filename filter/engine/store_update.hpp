// From an old store and lists of changes to a new store and its filter: one merge in the order of the hashes, which
// reads the old store once and a part of it twice. Used by `bloomgate update-store` and by tests.
//
// With the same options and seeds, the new pair equals, byte for byte, a build from the changed list. The domains of
// the senders are an exception: those that only removed addresses had stay, since the store does not show which
// addresses have a domain. They disappear when the pair is built from the lists again.
//
// An update cannot see two things:
// - Another entry with the same hash as a removed one is removed with it. The probability is n / 2^64 for each removed
//   entry.
// - The update does not know which of the hashes are pairs. So their number (KindsHeld) stays when pairs are removed.
//
// Call order: constructor, (added().lane().add | removed().lane().add)*, count, write. For one thread, except the
// lanes; see GatheredEntries. Memory: that for the changes, and some 50 MB for each thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "filter/engine/builder.hpp"
#include "filter/engine/store_merge.hpp"
#include "filter/gather/gathered_entries.hpp"
#include "filter/store/store_file.hpp"

namespace bloomgate {

class StoreWriter;

class StoreUpdate {
 public:
  // `options` with the seed, family and profile of the hashes in the store.
  static BuildOptions options_for(const StoreFile& old, BuildOptions options);

  // `options` come from options_for(); `store_path` in them is the path of the new store. Half of the memory is for the
  // added entries, half for the removed ones. The old store must outlive the update. A piece of work has
  // `pages_of_piece` pages. Throws BloomgateError{bad_argument, out_of_memory}: options.sender_domains needs a store
  // that has them (StoreHeader::knows_sender_domains).
  StoreUpdate(const StoreFile& old, const BuildOptions& options,
              std::uint64_t pages_of_piece = StoreMerge::kPagesOfPiece);

  GatheredEntries& added() noexcept { return added_; }
  GatheredEntries& removed() noexcept { return removed_; }

  // Addresses that the filter must not list, as in FilterBuilder::set_strangers(); made for shape().
  void set_strangers(KnownStrangers& strangers, std::function<void()> review = {});
  // The shape of the filter, except for the number of blocks.
  const FilterShape& shape() const noexcept { return shape_; }

  // Compares the changes with the old store, reading only what they touch. Throws BloomgateError{interrupted}, and what
  // reading the store throws.
  UpdateCounts count(const std::atomic<bool>& stop);

  // The numbers of entries of the new store, valid after count().
  std::uint64_t addresses() const noexcept { return addresses_; }
  std::uint64_t domains() const noexcept { return domains_; }

  // Writes both files, reads them back, checks them, and publishes them as FilterBuilder::write() does: at any moment
  // the old pair or the new one is there. Throws the same, and what reading the store throws.
  FilterHeader write(const std::string& path, const std::atomic<bool>& stop, WriteProgress& progress);

  std::uint64_t spilled_bytes() const noexcept { return added_.spilled_bytes() + removed_.spilled_bytes(); }

 private:
  UpdateCounts merge_domains(const std::function<void(std::span<const KeyHash>)>& use) const;
  std::uint64_t write_addresses(FilterWriter& filter, StoreWriter& store, const std::atomic<bool>& stop,
                                WriteProgress& progress);

  const StoreFile& old_;
  BuildOptions options_;
  FilterShape shape_;
  GatheredEntries added_;
  GatheredEntries removed_;
  StoreMerge merge_;  // of the addresses
  std::uint64_t addresses_ = 0;
  std::uint64_t domains_ = 0;
  KindsHeld kinds_ = {};
  KnownStrangers* strangers_ = nullptr;  // if there are any
  std::function<void()> review_;
};

}  // namespace bloomgate
