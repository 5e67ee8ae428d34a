#include "milter/learning/known_pairs.hpp"

#include <algorithm>

#include "filter/address/pair.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kFirstSlots = 16;
constexpr KeyHash kFree = 0;
constexpr KeyHash kInPlaceOfFree = 1;
// The day of a pair that was removed. Its slot stays until the part is rebuilt.
constexpr PairTable::Day kGone = 0;

// Full at 85 %, and a quarter larger after that: so at least 68 % of the slots are in use, and a pair takes at most
// 14.7 bytes.
constexpr bool is_full(std::size_t used, std::size_t slots) noexcept {
  return used * 20 >= slots * 17;
}
constexpr std::size_t larger(std::size_t slots) noexcept {
  return std::max(kFirstSlots, slots + slots / 4);
}

}  // namespace

// Linear probing. The lowest bits of a hash select the part, the highest bits the slot.
class PairTable::Part {
 public:
  std::optional<Day> find(KeyHash hash) const noexcept {
    const std::lock_guard lock(mutex_);
    const std::optional<std::size_t> at = table_.find(hash);
    return at && table_.days[*at] != kGone ? std::optional(table_.days[*at]) : std::nullopt;
  }

  void remove(KeyHash hash) noexcept {
    const std::lock_guard lock(mutex_);
    const std::optional<std::size_t> at = table_.find(hash);
    if (!at || table_.days[*at] == kGone) return;
    table_.days[*at] = kGone;
    ++gone_;
  }

  void put(KeyHash hash, Day day) {
    const std::lock_guard lock(mutex_);
    if (is_full(used_ + 1, table_.slots)) grow();
    const std::size_t at = table_.slot_of(hash);
    if (table_.hashes[at] == kFree) {
      table_.hashes[at] = hash;
      table_.days[at] = day;
      ++used_;
    } else {
      if (table_.days[at] == kGone) --gone_;
      table_.days[at] = std::max(table_.days[at], day);
    }
  }

  void expire(Day day) {
    const std::lock_guard lock(mutex_);
    std::size_t stay = 0;
    for (std::size_t at = 0; at < table_.slots; ++at)
      stay += static_cast<std::size_t>(table_.has(at) && table_.days[at] >= day);
    if (stay == used_) return;
    std::size_t slots = kFirstSlots;
    while (is_full(stay + 1, slots)) slots = larger(slots);
    move_to(Table(slots), day);
    used_ = stay;
    if (day != kGone) gone_ = 0;
  }

  std::size_t size() const noexcept {
    const std::lock_guard lock(mutex_);
    return used_ - gone_;
  }

  std::size_t bytes() const noexcept {
    const std::lock_guard lock(mutex_);
    return table_.slots * (sizeof(KeyHash) + sizeof(Day));
  }

 private:
  struct Table {
    Table() = default;
    explicit Table(std::size_t count)
        : slots(count), hashes(std::make_unique<KeyHash[]>(count)), days(std::make_unique<Day[]>(count)) {}

    bool has(std::size_t at) const noexcept { return hashes[at] != kFree; }
    std::optional<std::size_t> find(KeyHash hash) const noexcept {
      if (slots == 0) return std::nullopt;
      const std::size_t at = slot_of(hash);
      return has(at) ? std::optional(at) : std::nullopt;
    }
    // The slot of the hash, or the free one for it. There is always a free slot.
    std::size_t slot_of(KeyHash hash) const noexcept {
      // Lemire, 2019: maps a hash evenly to any number of slots, by a multiplication.
      __extension__ using Wide = unsigned __int128;
      auto at = static_cast<std::size_t>((static_cast<Wide>(hash) * slots) >> 64);
      while (hashes[at] != kFree && hashes[at] != hash) at = at + 1 == slots ? 0 : at + 1;
      return at;
    }

    std::size_t slots = 0;
    std::unique_ptr<KeyHash[]> hashes;
    std::unique_ptr<Day[]> days;
  };

  void grow() { move_to(Table(larger(table_.slots)), 0); }

  void move_to(Table next, Day first_day) noexcept {
    for (std::size_t at = 0; at < table_.slots; ++at) {
      if (!table_.has(at) || table_.days[at] < first_day) continue;
      const std::size_t to = next.slot_of(table_.hashes[at]);
      next.hashes[to] = table_.hashes[at];
      next.days[to] = table_.days[at];
    }
    table_ = std::move(next);
  }

  mutable std::mutex mutex_;
  Table table_;
  std::size_t used_ = 0;
  std::size_t gone_ = 0;  // of these, removed
};

PairTable::PairTable() : pairs_(std::make_unique<Parts>()), domains_(std::make_unique<Parts>()) {}

PairTable::~PairTable() = default;

PairTable::Part& PairTable::part_of(Parts& parts, KeyHash hash) noexcept {
  return parts[hash % kParts];
}

std::optional<PairTable::Day> PairTable::find(KeyHash pair) const noexcept {
  return part_of(*pairs_, pair).find(pair == kFree ? kInPlaceOfFree : pair);
}

std::optional<PairTable::Day> PairTable::find_domain(KeyHash domain) const noexcept {
  return part_of(*domains_, domain).find(domain == kFree ? kInPlaceOfFree : domain);
}

void PairTable::put(KeyHash pair, Day day) {
  if (day != kGone) part_of(*pairs_, pair).put(pair == kFree ? kInPlaceOfFree : pair, day);
}

void PairTable::put_domain(KeyHash domain, Day day) {
  if (day != kGone) part_of(*domains_, domain).put(domain == kFree ? kInPlaceOfFree : domain, day);
}

void PairTable::remove(KeyHash pair) noexcept {
  part_of(*pairs_, pair).remove(pair == kFree ? kInPlaceOfFree : pair);
}

void PairTable::expire(Day day) {
  for (Part& part : *pairs_) part.expire(day);
  for (Part& part : *domains_) part.expire(day);
}

std::size_t PairTable::size() const noexcept {
  std::size_t size = 0;
  for (const Part& part : *pairs_) size += part.size();
  return size;
}

std::size_t PairTable::bytes() const noexcept {
  std::size_t bytes = sizeof(*pairs_) + sizeof(*domains_);
  for (const Parts* const parts : {pairs_.get(), domains_.get()}) {
    for (const Part& part : *parts) bytes += part.bytes();
  }
  return bytes;
}

std::optional<KnownPairs::Day> KnownPairs::find(std::string_view user, std::string_view correspondent) const noexcept {
  return table_.find(hash_key(pair_key(correspondent, user).view(), seed_));
}

std::optional<KnownPairs::Day> KnownPairs::find_domain(std::string_view domain) const noexcept {
  return table_.find_domain(hash_key(domain, seed_));
}

void KnownPairs::put(std::string_view user, std::string_view correspondent, Day day) {
  table_.put_domain(hash_key(correspondent.substr(correspondent.rfind('@') + 1), seed_), day);
  table_.put(hash_key(pair_key(correspondent, user).view(), seed_), day);
}

}  // namespace bloomgate
