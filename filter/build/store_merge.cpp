#include "filter/build/store_merge.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "filter/base/parallel.hpp"
#include "filter/build/stop_check.hpp"

namespace bloomgate {
namespace {

// Of the usual coding, 115,000 hashes: with the merged ones, they stay in the second cache.
constexpr std::uint64_t kPagesOfPiece = 128;

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
    // Most runs are without a change.
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

StoreMerge::StoreMerge(const StoreFile& old, const GatheredHashes& added, const GatheredHashes& removed,
                       unsigned threads, std::uint64_t hashes_of_round)
    : old_(old),
      added_(added),
      removed_(removed),
      threads_(threads),
      hashes_of_round_(threads * hashes_of_round),
      added_of_(GatheredHashes::partition_count()) {}

std::vector<StoreMerge::Piece> StoreMerge::pieces_of(std::size_t partition) const {
  const auto changes = std::make_shared<const PartitionChanges>(changes_of(added_, removed_, partition));
  const KeyHash first = GatheredHashes::first_hash(partition);
  const KeyHash last = GatheredHashes::last_hash(partition);
  const std::span<const KeyHash> index = old_.first_hashes();
  const auto begin = std::ranges::upper_bound(index, first);
  const auto end_page = static_cast<std::uint64_t>(std::ranges::upper_bound(index, last) - index.begin());
  // The page before may have some, too.
  std::uint64_t page = begin == index.begin() ? 0 : static_cast<std::uint64_t>(begin - index.begin()) - 1;
  std::vector<Piece> pieces;
  for (KeyHash at = first; page + kPagesOfPiece < end_page; page += kPagesOfPiece) {
    pieces.push_back({page, page + kPagesOfPiece, at, index[page + kPagesOfPiece] - 1, changes});
    at = index[page + kPagesOfPiece];
  }
  pieces.push_back({page, end_page, pieces.empty() ? first : pieces.back().last + 1, last, changes});
  return pieces;
}

void StoreMerge::merge(Piece& piece, Scratch& scratch) const {
  scratch.old.clear();
  if (piece.first_page != piece.end_page) {
    old_.read_pages(piece.first_page, piece.end_page, scratch.old, scratch.pages);
  }
  piece.merged.clear();
  piece.counts =
      merge_hashes(within(scratch.old, piece.first, piece.last), within(piece.changes->added, piece.first, piece.last),
                   within(piece.changes->removed, piece.first, piece.last), piece.merged);
}

bool StoreMerge::contains(KeyHash hash) const {
  const StoreAnswer answer = old_.find(hash);
  if (answer == StoreAnswer::present) return true;
  if (answer != StoreAnswer::absent) {
    // Says what is wrong with the page.
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
  const auto added = within(piece.changes->added, piece.first, piece.last);
  const auto removed = within(piece.changes->removed, piece.first, piece.last);
  const std::uint64_t already_there = count_there(added);
  const std::uint64_t gone = count_there(removed);
  return {.added = added.size() - already_there,
          .already_there = already_there,
          .removed = gone,
          .not_there = removed.size() - gone};
}

// Looking up a hash costs about as much as decoding half a page.
UpdateCounts StoreMerge::count(Piece& piece, Scratch& scratch) const {
  const std::size_t changes = within(piece.changes->added, piece.first, piece.last).size() +
                              within(piece.changes->removed, piece.first, piece.last).size();
  const std::uint64_t pages = piece.end_page - piece.first_page;
  if (changes == 0) return {};
  if (changes >= pages / 8) old_.will_read_pages(piece.first_page, piece.end_page);
  if (changes <= 2 * pages) return look_up(piece);
  merge(piece, scratch);
  return piece.counts;
}

UpdateCounts StoreMerge::count(const std::atomic<bool>& stop) {
  UpdateCounts sum;
  std::mutex mutex;
  std::atomic<std::size_t> next{0};
  run_parallel(threads_, [&](unsigned) {
    Scratch scratch;
    Piece merged;  // the memory for one
    for (std::size_t partition; (partition = next.fetch_add(1)) < added_of_.size();) {
      check_stop(stop);
      UpdateCounts counts;
      for (Piece& piece : pieces_of(partition)) {
        std::swap(piece.merged, merged.merged);
        counts += count(piece, scratch);
        counts.both = piece.changes->both;
        std::swap(piece.merged, merged.merged);
      }
      added_of_[partition] = counts.added;
      const std::lock_guard lock(mutex);
      sum += counts;
    }
  });
  return sum;
}

bool StoreMerge::next_round(std::vector<Piece>& round) {
  std::vector<std::vector<KeyHash>> memory;
  memory.reserve(round.size());
  for (Piece& piece : round) memory.push_back(std::move(piece.merged));
  round.clear();
  const StoreHeader& header = old_.header();
  std::uint64_t hashes = 0;
  while (next_partition_ < added_of_.size() && hashes < hashes_of_round_) {
    hashes += header.addresses / added_of_.size() + added_of_[next_partition_];
    for (Piece& piece : pieces_of(next_partition_++)) {
      if (!memory.empty()) {
        piece.merged = std::move(memory.back());
        memory.pop_back();
      }
      round.push_back(std::move(piece));
    }
  }
  if (!round.empty()) old_.will_read_pages(round.front().first_page, round.back().end_page);
  return !round.empty();
}

}  // namespace bloomgate
