// From an old store and lists of changes to a new store and its filter: one merge in the order of the hashes, which
// reads the old store once and a part of it twice. Used by `bloomgate update` and by tests.
//
// The new pair is the same, byte for byte, as a build from the changed list gives it, with the same options and seeds.
// That holds but for the domains of the senders: those that only removed addresses had stay, since nobody knows who
// else had them. They go when the pair is built from the lists again.
//
// What an update cannot know of is another entry with the same hash as one that is removed: that goes with it, with a
// probability of n / 2^64 for each that is removed. Nor does it know which of the hashes are pairs: the number of these
// (KindsHeld) stays what it was when pairs are removed.
//
// Call order: constructor, (added().lane().add | removed().lane().add)*, count, write. For one thread but for the
// lanes, see GatheredEntries. Memory: that for the changes, and some 50 MB for each thread.
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
  // The options with seed, family and profile of the hashes as the store has them.
  static BuildOptions options_for(const StoreFile& old, BuildOptions options);

  // `options` are those of options_for(); `store_path` says where to put the new store. Half of the memory is for what
  // is added, half for what is removed. The old store must outlive the update. Work comes in pieces of
  // `pages_of_piece`. Throws BloomgateError{bad_argument, out_of_memory}: options.sender_domains needs a store that has
  // them (StoreHeader::knows_sender_domains).
  StoreUpdate(const StoreFile& old, const BuildOptions& options,
              std::uint64_t pages_of_piece = StoreMerge::kPagesOfPiece);

  GatheredEntries& added() noexcept { return added_; }
  GatheredEntries& removed() noexcept { return removed_; }

  // Addresses that must not be taken for listed, as FilterBuilder::set_strangers() has it; made for shape().
  void set_strangers(KnownStrangers& strangers, std::function<void()> review = {});
  // The filter's, but for the number of blocks.
  const FilterShape& shape() const noexcept { return shape_; }

  // Compares the changes with the old store, of which it reads what they touch. Throws BloomgateError{interrupted}, and
  // what reading the store throws.
  UpdateCounts count(const std::atomic<bool>& stop);

  // What the new store will have, once counted.
  std::uint64_t addresses() const noexcept { return addresses_; }
  std::uint64_t domains() const noexcept { return domains_; }

  // Writes both files, reads them back, checks them, and puts them in their places as FilterBuilder::write() does: at
  // any moment there is the old pair or the new one. Throws as that, and what reading the store throws.
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
