// The domains that a thread has just seen, so that it passes each on once and not with every address. A domain that is
// no longer in the table is passed on once more: that costs time and is never wrong.
//
// Whether a domain is in the table cannot be foreseen, so no branch depends on it: what is not there goes to the end of
// a short list, and the list is worked off when it is full.
//
// If nearly all domains are new, the table costs time and saves nothing. Then most of them go past it.
//
// The table has hashes. A table of texts in front of it would save hashing, but to read a text's words, choose a slot
// by them and compare takes as long as XXH3 does.
//
// For one thread. Two megabytes: of 10^5 domains that are equally frequent it leaves out five of six, and what it does
// not leave out costs more than a cache that is farther away, since what is needed is fetched ahead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "filter/hash/hash.hpp"
#include "filter/system/anonymous_memory.hpp"

namespace bloomgate {

class RecentDomains {
 public:
  // What add() may put off.
  static constexpr std::size_t kMostPutOff = 64;

  RecentDomains()
      : memory_(std::in_place, kTableHashes * sizeof(KeyHash), "the domains of the senders"),
        table_(reinterpret_cast<KeyHash*>(memory_->bytes().data())) {}

  // A domain has come. Calls `pass_on(hash)` for some that were not there, now or later.
  template <typename PassOn>
  void add(KeyHash hash, PassOn pass_on) {
    // It is there when the list is worked off.
    if (batches_past_table_ == 0) __builtin_prefetch(&table_[hash % kTableHashes], 1);
    put_off_[count_++] = hash;
    if (count_ == kMostPutOff) settle(pass_on);
  }

  // Gives the table's memory back. No domain may come after that.
  void end() noexcept { memory_.reset(); }

  // Passes on what was put off.
  template <typename PassOn>
  void settle(PassOn pass_on) {
    if (batches_past_table_ != 0) {
      --batches_past_table_;
    } else {
      leave_out_recent();
    }
    for (std::size_t i = 0; i < count_; ++i) pass_on(put_off_[i]);
    count_ = 0;
  }

 private:
  static constexpr std::size_t kTableHashes = std::size_t{1} << 18;
  // The table is tried in this many batches, and then passed by in this many if it had less than one in eight.
  static constexpr unsigned kBatchesTried = 4096;
  static constexpr unsigned kBatchesPassed = 15 * kBatchesTried;

  void leave_out_recent() {
    const std::size_t had = count_;
    std::size_t count = 0;
    for (std::size_t i = 0; i < had; ++i) {
      const KeyHash hash = put_off_[i];
      KeyHash& slot = table_[hash % kTableHashes];
      // To the front of the same list. A slot that is empty has no hash.
      put_off_[count] = hash;
      count += slot != hash || hash == 0 ? 1U : 0U;
      slot = hash;
    }
    count_ = count;
    tried_ += had;
    found_ += had - count;
    if (tried_ < kBatchesTried * kMostPutOff) return;
    if (found_ < tried_ / 8) batches_past_table_ = kBatchesPassed;
    tried_ = 0;
    found_ = 0;
  }

  std::optional<AnonymousMemory> memory_;
  KeyHash* table_;
  std::array<KeyHash, kMostPutOff> put_off_;
  std::size_t count_ = 0;
  std::size_t tried_ = 0;  // domains, since it was last decided whether the table is worth its time
  std::size_t found_ = 0;  // of these
  unsigned batches_past_table_ = 0;
};

}  // namespace bloomgate
