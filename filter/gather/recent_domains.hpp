// The domains that were seen recently, so that each is passed on once and not with every address. A domain that is no
// longer in the table is passed on once more: that costs time and is never wrong.
//
// All threads share the table. It has lines of four hashes, half a cache line. Whether a domain is there cannot be
// predicted, so no branch depends on it. A lane collects the hashes that are added, prefetches their lines, and then
// processes its list: first it drops the hashes that are in the table, then it puts the others into the table.
//
// The table begins small enough for the nearer caches, and grows if many domains are passed on: to read a line from
// memory takes less time than to pass a domain on. If nearly all domains are new even then, most bypass the table.
//
// The table has hashes. A table of texts in front of it would save hashing, but it would take as long as XXH3 to read a
// text's words, to choose a slot by them, and to compare.
//
// One thread at a time may use a lane, different threads different lanes. Everything else needs all lanes to be unused.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "filter/hash/hash.hpp"
#include "filter/system/anonymous_memory.hpp"

namespace bloomgate {

class RecentDomains {
  static constexpr std::size_t kLineHashes = 4;
  struct Lines {
    KeyHash* first = nullptr;
    std::uint64_t last = 0;  // the number of the last line, all ones
    KeyHash* of(KeyHash hash) const noexcept { return first + (hash & last) * kLineHashes; }
  };

 public:
  // The most hashes that a lane's add() may defer.
  static constexpr std::size_t kMostPutOff = 64;
  static constexpr std::uint64_t kFirstBytes = std::uint64_t{4} << 20;

  class alignas(64) Lane {  // cache lines that no other thread writes to
   public:
    explicit Lane(const RecentDomains& table) : table_(&table) {}

    // Adds a domain. Calls `pass_on(hash)` for domains that were not in the table, now or later.
    template <typename PassOn>
    void add(KeyHash hash, PassOn pass_on) {
      // The line has arrived when the list is processed.
      if (goes_past_ == 0) __builtin_prefetch(table_->lines_.of(hash));
      put_off_[count_++] = hash;
      if (count_ == kMostPutOff) settle(pass_on);
    }

    // Processes the deferred hashes.
    template <typename PassOn>
    void settle(PassOn pass_on) {
      came_ += count_;
      if (goes_past_ != 0) {
        goes_past_ -= std::min<std::uint64_t>(goes_past_, count_);
      } else {
        leave_out_recent();
      }
      for (std::size_t i = 0; i < count_; ++i) pass_on(put_off_[i]);
      passed_on_ += count_;
      count_ = 0;
    }

    // Counts of all domains that were added and are no longer deferred.
    std::uint64_t came() const noexcept { return came_; }
    std::uint64_t passed_on() const noexcept { return passed_on_; }
    // Call it when the table has grown: the lane tries it again, and earlier counts no longer matter.
    void start_again() noexcept { goes_past_ = tried_ = found_ = came_ = passed_on_ = 0; }

   private:
    void leave_out_recent() {
      const Lines lines = table_->lines_;  // a copy, as the stores below might change the table's
      const std::size_t had = count_;
      std::size_t count = 0;
      for (std::size_t i = 0; i < had; ++i) {
        const KeyHash hash = put_off_[i];
        put_off_[count] = hash;  // to the front of the same list
        count += is_in(lines.of(hash), hash) ? 0U : 1U;
      }
      count_ = count;
      for (std::size_t i = 0; i < count; ++i) put_in(put_off_[i]);
      tried_ += had;
      found_ += had - count;
      if (tried_ >= table_->tried_before_judging()) judge();
    }

    static bool is_in(KeyHash* line, KeyHash hash) noexcept {
      unsigned equal = 0;
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kLineHashes; ++i) equal |= load(line[i]) == hash ? 1U : 0U;
      return equal != 0;
    }

    // Replaces one of the hashes in the line.
    void put_in(KeyHash hash) noexcept {
      std::atomic_ref<KeyHash>(table_->lines_.of(hash)[++next_slot_ % kLineHashes])
          .store(hash, std::memory_order_relaxed);
    }

    // Decides whether the table is worth its time.
    void judge() noexcept {
      if (found_ < tried_ / 4) goes_past_ = 15 * tried_;
      tried_ = 0;
      found_ = 0;
    }

    const RecentDomains* table_;
    std::array<KeyHash, kMostPutOff> put_off_;
    std::size_t count_ = 0;
    std::size_t next_slot_ = 0;
    std::uint64_t tried_ = 0;      // domains since the last decision whether the table is worth its time
    std::uint64_t found_ = 0;      // how many of these were in the table
    std::uint64_t goes_past_ = 0;  // how many domains will still bypass the table
    std::uint64_t came_ = 0;
    std::uint64_t passed_on_ = 0;
  };

  // The table never stays above `most_bytes`, rounded down to a power of two, but has at least kFirstBytes.
  explicit RecentDomains(std::uint64_t most_bytes = kFirstBytes)
      : most_bytes_(std::bit_floor(std::max(most_bytes, kFirstBytes))) {
    take(kFirstBytes);
  }

  // Whether more memory is worth while, if so many of the added domains were passed on.
  bool should_grow(std::uint64_t came, std::uint64_t passed_on) const noexcept {
    return memory_->bytes().size() < most_bytes_ && passed_on > came / 8;
  }
  // Grows to all the memory that it may have; the table is then empty. Throws BloomgateError{out_of_memory}.
  void grow() { take(most_bytes_); }

  // Releases the memory. Do not add domains after that.
  void end() noexcept { memory_.reset(); }

 private:
  static KeyHash load(KeyHash& slot) noexcept { return std::atomic_ref<KeyHash>(slot).load(std::memory_order_relaxed); }

  void take(std::uint64_t bytes) {
    memory_.reset();
    memory_.emplace(bytes, "the domains of the senders");
    lines_ = {.first = reinterpret_cast<KeyHash*>(memory_->bytes().data()),
              .last = bytes / (kLineHashes * sizeof(KeyHash)) - 1};
    // An empty slot must have a hash that belongs to another line. Zero belongs to the first line, 1 does not.
    std::fill_n(lines_.first, kLineHashes, KeyHash{1});
  }

  // After so many domains, a lane has seen whether the full table finds repeated domains.
  std::uint64_t tried_before_judging() const noexcept { return (lines_.last + 1) * kLineHashes; }

  std::uint64_t most_bytes_;
  std::optional<AnonymousMemory> memory_;
  Lines lines_ = {};
};

}  // namespace bloomgate
