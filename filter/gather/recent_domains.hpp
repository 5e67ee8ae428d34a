// The domains that have just been seen, so that each is passed on once and not with every address. A domain that is no
// longer in the table is passed on once more: that costs time and is never wrong.
//
// The table is for all threads. It has lines of four hashes, half a line of the cache. Whether a domain is there cannot
// be foreseen, so no branch depends on it: a lane puts off what comes, fetches the lines ahead, and then works off the
// list: first it leaves out what is there, then it puts what is left into the table.
//
// The table begins small enough for the nearer caches, and grows if many domains are passed on: to reach for a line in
// memory takes less time than to pass a domain on. If nearly all domains are new even so, most go past the table.
//
// The table has hashes. A table of texts in front of it would save hashing, but to read a text's words, choose a slot
// by them and compare takes as long as XXH3 does.
//
// A lane is for one thread at a time, different lanes at once. Everything else needs all lanes at rest.
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
    std::uint64_t last = 0;  // its number, all ones
    KeyHash* of(KeyHash hash) const noexcept { return first + (hash & last) * kLineHashes; }
  };

 public:
  // What a lane's add() may put off.
  static constexpr std::size_t kMostPutOff = 64;
  static constexpr std::uint64_t kFirstBytes = std::uint64_t{4} << 20;

  class alignas(64) Lane {  // lines of the cache that no other thread writes to
   public:
    explicit Lane(const RecentDomains& table) : table_(&table) {}

    // A domain has come. Calls `pass_on(hash)` for some that were not there, now or later.
    template <typename PassOn>
    void add(KeyHash hash, PassOn pass_on) {
      // It is there when the list is worked off.
      if (goes_past_ == 0) __builtin_prefetch(table_->lines_.of(hash));
      put_off_[count_++] = hash;
      if (count_ == kMostPutOff) settle(pass_on);
    }

    // Passes on what was put off.
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

    // Of all that came and are not put off.
    std::uint64_t came() const noexcept { return came_; }
    std::uint64_t passed_on() const noexcept { return passed_on_; }
    // The table has grown: it is tried again, and what came before it does not count.
    void start_again() noexcept { goes_past_ = tried_ = found_ = came_ = passed_on_ = 0; }

   private:
    void leave_out_recent() {
      const Lines lines = table_->lines_;  // of its own, as the stores below might change the table's
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

    // In the place of any that is in the line.
    void put_in(KeyHash hash) noexcept {
      std::atomic_ref<KeyHash>(table_->lines_.of(hash)[++next_slot_ % kLineHashes])
          .store(hash, std::memory_order_relaxed);
    }

    // Whether the table is worth its time.
    void judge() noexcept {
      if (found_ < tried_ / 4) goes_past_ = 15 * tried_;
      tried_ = 0;
      found_ = 0;
    }

    const RecentDomains* table_;
    std::array<KeyHash, kMostPutOff> put_off_;
    std::size_t count_ = 0;
    std::size_t next_slot_ = 0;
    std::uint64_t tried_ = 0;      // domains, since it was last decided whether the table is worth its time
    std::uint64_t found_ = 0;      // of these
    std::uint64_t goes_past_ = 0;  // so many domains
    std::uint64_t came_ = 0;
    std::uint64_t passed_on_ = 0;
  };

  // Takes no more than that for long, in powers of two, and at least kFirstBytes.
  explicit RecentDomains(std::uint64_t most_bytes = kFirstBytes)
      : most_bytes_(std::bit_floor(std::max(most_bytes, kFirstBytes))) {
    take(kFirstBytes);
  }

  // Whether it is worth while to have more memory, if so many of those that came were passed on.
  bool should_grow(std::uint64_t came, std::uint64_t passed_on) const noexcept {
    return memory_->bytes().size() < most_bytes_ && passed_on > came / 8;
  }
  // Takes all that it may have, and is empty then. Throws BloomgateError{out_of_memory}.
  void grow() { take(most_bytes_); }

  // Gives the memory back. No domain may come after that.
  void end() noexcept { memory_.reset(); }

 private:
  static KeyHash load(KeyHash& slot) noexcept { return std::atomic_ref<KeyHash>(slot).load(std::memory_order_relaxed); }

  void take(std::uint64_t bytes) {
    memory_.reset();
    memory_.emplace(bytes, "the domains of the senders");
    lines_ = {.first = reinterpret_cast<KeyHash*>(memory_->bytes().data()),
              .last = bytes / (kLineHashes * sizeof(KeyHash)) - 1};
    // A slot that is empty has a hash that belongs into another line; the memory's zeros belong into the first.
    std::fill_n(lines_.first, kLineHashes, KeyHash{1});
  }

  // A lane has seen by then whether it is full of what comes again.
  std::uint64_t tried_before_judging() const noexcept { return (lines_.last + 1) * kLineHashes; }

  std::uint64_t most_bytes_;
  std::optional<AnonymousMemory> memory_;
  Lines lines_ = {};
};

}  // namespace bloomgate
