#include "filter/engine/store_merge.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "filter/base/parallel.hpp"
#include "filter/base/stop_check.hpp"

namespace bloomgate {
namespace {

std::span<const KeyHash> within(const std::vector<KeyHash>& hashes, KeyHash first, KeyHash last) {
  const auto begin = std::ranges::lower_bound(hashes, first);
  return {begin, std::ranges::upper_bound(begin, hashes.end(), last)};
}

}  // namespace

UpdateCounts& UpdateCounts::operator+=(const UpdateCounts& other) noexcept {
  added += other.added;
  already_there += other.already_there;
  removed += other.removed;
  not_there += other.not_there;
  both += other.both;
  return *this;
}

PartitionChanges changes_of(const GatheredHashes& added, const GatheredHashes& removed, std::size_t partition) {
  PartitionChanges changes;
  changes.removed = removed.sorted_once(partition);
  const std::vector<KeyHash> wanted = added.sorted_once(partition);
  std::ranges::set_difference(wanted, changes.removed, std::back_inserter(changes.added));
  changes.both = wanted.size() - changes.added.size();
  return changes;
}

UpdateCounts merge_hashes(std::span<const KeyHash> old, std::span<const KeyHash> added,
                          std::span<const KeyHash> removed, std::vector<KeyHash>& out) {
  auto add = added.begin();
  auto remove = removed.begin();
  std::uint64_t already_there = 0;
  std::uint64_t gone = 0;
  out.reserve(out.size() + old.size() + added.size());
  for (auto next = old.begin(); next != old.end();) {
    // Most runs have no change.
    const KeyHash change =
        std::min(add == added.end() ? ~KeyHash{0} : *add, remove == removed.end() ? ~KeyHash{0} : *remove);
    const auto unchanged = std::lower_bound(next, old.end(), change);
    out.insert(out.end(), next, unchanged);
    next = unchanged;
    if (next == old.end()) break;
    if (add != added.end() && *add <= *next) {
      if (*add == *next) {
        ++already_there;
        ++next;
      }
      out.push_back(*add++);
    } else if (remove != removed.end() && *remove <= *next) {
      if (*remove == *next) {
        ++gone;
        ++next;
      }
      ++remove;
    } else {
      out.push_back(*next++);  // the greatest hash of all
    }
  }
  out.insert(out.end(), add, added.end());
  return {.added = added.size() - already_there,
          .already_there = already_there,
          .removed = gone,
          .not_there = removed.size() - gone};
}

UpdateCounts merge_domains(const StoreFile& old, const GatheredHashes& added, const GatheredHashes& removed,
                           const std::function<void(std::span<const KeyHash>)>& use) {
  UpdateCounts counts;
  std::size_t partition = 0;
  std::vector<KeyHash> kept;  // of the old ones in this partition
  const auto merge_up_to = [&](std::size_t end) {
    for (; partition < end; ++partition) {
      const PartitionChanges changes = changes_of(added, removed, partition);
      std::vector<KeyHash> merged;
      counts += merge_hashes(kept, changes.added, changes.removed, merged);
      counts.both += changes.both;
      if (!merged.empty()) use(merged);
      kept.clear();
    }
  };
  old.for_each_domain([&](std::span<const KeyHash> run) {
    for (const KeyHash hash : run) {
      if (hash > GatheredHashes::last_hash(partition)) merge_up_to(GatheredHashes::partition_of(hash));
      kept.push_back(hash);
    }
  });
  merge_up_to(GatheredHashes::partition_count());
  return counts;
}

KindsHeld kinds_after(KindsHeld old, KindsHeld added, std::uint64_t new_addresses) noexcept {
  // At most the number of new entries in the bits.
  added.pairs_in_bits = std::min(added.pairs_in_bits, new_addresses);
  return old += added;
}

StoreMerge::StoreMerge(const StoreFile& old, const GatheredHashes& added, const GatheredHashes& removed,
                       unsigned threads, std::uint64_t pages_of_piece, HashRange range)
    : old_(old),
      added_(added),
      removed_(removed),
      threads_(threads),
      pages_of_piece_(pages_of_piece),
      range_(range),
      end_partition_(GatheredHashes::partition_of(range.last) + 1),
      next_partition_(GatheredHashes::partition_of(range.first)) {}

HashRange StoreMerge::own_hashes(std::size_t partition) const noexcept {
  return {std::max(GatheredHashes::first_hash(partition), range_.first),
          std::min(GatheredHashes::last_hash(partition), range_.last)};
}

// The range of pages of the old store that may have hashes of a partition.
std::pair<std::uint64_t, std::uint64_t> StoreMerge::pages_of(std::size_t partition) const {
  const std::span<const KeyHash> index = old_.first_hashes();
  const HashRange hashes = own_hashes(partition);
  const auto begin = std::ranges::upper_bound(index, hashes.first);
  const auto end = std::ranges::upper_bound(begin, index.end(), hashes.last);
  // The page before may have some of them, too.
  return {begin == index.begin() ? 0 : static_cast<std::uint64_t>(begin - index.begin()) - 1,
          static_cast<std::uint64_t>(end - index.begin())};
}

std::vector<StoreMerge::Piece> StoreMerge::pieces_of(std::size_t partition) const {
  const std::shared_future<PartitionChanges> changes =
      std::async(std::launch::deferred, [this, partition] { return changes_of(added_, removed_, partition); });
  const auto [first, last] = own_hashes(partition);
  const std::span<const KeyHash> index = old_.first_hashes();
  auto [page, end_page] = pages_of(partition);
  std::vector<Piece> pieces;
  for (KeyHash at = first; page + pages_of_piece_ < end_page; page += pages_of_piece_) {
    pieces.push_back({page, page + pages_of_piece_, at, index[page + pages_of_piece_] - 1, changes});
    at = index[page + pages_of_piece_];
  }
  pieces.push_back({page, end_page, pieces.empty() ? first : pieces.back().last + 1, last, changes});
  return pieces;
}

UpdateCounts StoreMerge::merge(const Piece& piece, Scratch& scratch, std::vector<KeyHash>& out) const {
  scratch.old.clear();
  if (piece.first_page != piece.end_page) {
    old_.read_pages(piece.first_page, piece.end_page, scratch.old, scratch.pages);
  }
  const PartitionChanges& changes = piece.changes.get();
  return merge_hashes(within(scratch.old, piece.first, piece.last), within(changes.added, piece.first, piece.last),
                      within(changes.removed, piece.first, piece.last), out);
}

bool StoreMerge::contains(KeyHash hash) const {
  const StoreAnswer answer = old_.find(hash);
  if (answer == StoreAnswer::present) return true;
  if (answer != StoreAnswer::absent) {
    // Reading the page throws an error that says what is wrong with it.
    const std::span<const KeyHash> index = old_.first_hashes();
    const auto page = static_cast<std::uint64_t>(std::ranges::upper_bound(index, hash) - index.begin()) - 1;
    std::vector<KeyHash> hashes;
    old_.read_pages(page, page + 1, hashes);
    return std::ranges::binary_search(hashes, hash);
  }
  return false;
}

UpdateCounts StoreMerge::look_up(const Piece& piece) const {
  const auto count_there = [this](std::span<const KeyHash> hashes) {
    return static_cast<std::uint64_t>(std::ranges::count_if(hashes, [this](KeyHash hash) { return contains(hash); }));
  };
  const PartitionChanges& changes = piece.changes.get();
  const auto added = within(changes.added, piece.first, piece.last);
  const auto removed = within(changes.removed, piece.first, piece.last);
  const std::uint64_t already_there = count_there(added);
  const std::uint64_t gone = count_there(removed);
  return {.added = added.size() - already_there,
          .already_there = already_there,
          .removed = gone,
          .not_there = removed.size() - gone};
}

// A look-up of a hash costs about as much as decoding half a page.
UpdateCounts StoreMerge::count(const Piece& piece, Scratch& scratch) const {
  const std::size_t changes = within(piece.changes.get().added, piece.first, piece.last).size() +
                              within(piece.changes.get().removed, piece.first, piece.last).size();
  const std::uint64_t pages = piece.end_page - piece.first_page;
  if (changes == 0) return {};
  if (changes >= pages / 8) old_.will_read_pages(piece.first_page, piece.end_page);
  if (changes <= 2 * pages) return look_up(piece);
  scratch.merged.clear();
  return merge(piece, scratch, scratch.merged);
}

UpdateCounts StoreMerge::count(const std::atomic<bool>& stop) {
  UpdateCounts sum;
  std::mutex mutex;
  std::atomic<std::size_t> next{GatheredHashes::partition_of(range_.first)};
  run_parallel(threads_, [&](unsigned) {
    Scratch scratch;
    for (std::size_t partition; (partition = next.fetch_add(1)) < end_partition_;) {
      check_stop(stop);
      UpdateCounts counts;
      for (const Piece& piece : pieces_of(partition)) {
        counts += count(piece, scratch);
        counts.both = piece.changes.get().both;
      }
      const std::lock_guard lock(mutex);
      sum += counts;
    }
  });
  return sum;
}

std::optional<StoreMerge::Piece> StoreMerge::next_piece() {
  if (next_pieces_.empty()) {
    if (next_partition_ == end_partition_) return std::nullopt;
    const std::vector<Piece> pieces = pieces_of(next_partition_++);
    next_pieces_.assign(pieces.begin(), pieces.end());
    if (next_partition_ < end_partition_) {
      const auto [first_page, end_page] = pages_of(next_partition_);
      old_.will_read_pages(first_page, end_page);
    }
  }
  Piece piece = std::move(next_pieces_.front());
  next_pieces_.pop_front();
  return piece;
}

}  // namespace bloomgate
