#include "filter/mpi/old_store.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "filter/base/parallel.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/file/sections.hpp"

namespace bloomgate::mpi {
namespace {

// The room that a lane has again after each round (HashExchange::flush()).
constexpr std::size_t kHandedOnAtOnce = std::size_t{1} << 17;

// A chunk for each rank, so that the ranges are even. Stored hashes are treated as hashes of bits, so that each has one
// owner.
FilterShape shape_of_ranges(const StoreShape& store, unsigned ranks) {
  constexpr std::uint32_t kBlockBytes = 4096;
  return {.hash_family = store.hash_family,
          .block_bytes = kBlockBytes,
          .block_count = kChecksumChunkBytes / kBlockBytes * ranks,
          .seed = store.seed,
          .profile = store.profile};
}

template <typename Add>
void gather_in_pieces(GatheredEntries& entries, std::span<const KeyHash> hashes, Add add) {
  for (; !hashes.empty(); hashes = hashes.subspan(std::min<std::size_t>(hashes.size(), kEntriesAtOnce))) {
    if (!entries.has_room_for(kEntriesAtOnce)) entries.flush();
    GatheredEntries::Lane& lane = entries.lane(0);
    add(lane, hashes.first(std::min<std::size_t>(hashes.size(), kEntriesAtOnce)));
    lane.settle();
  }
}

// What a thread has merged, and how much of it was passed on.
struct Merged {
  StoreMerge::Scratch scratch = {};
  std::vector<KeyHash> hashes = {};
  std::size_t done = 0;

  bool is_done() const noexcept { return done == hashes.size(); }
};

}  // namespace

void gather(GatheredEntries& entries, std::span<const KeyHash> addresses) {
  gather_in_pieces(entries, addresses, [](auto& lane, std::span<const KeyHash> piece) { lane.add_stored(piece); });
}

void gather_domains(GatheredEntries& entries, std::span<const KeyHash> domains) {
  gather_in_pieces(entries, domains,
                   [](auto& lane, std::span<const KeyHash> piece) { lane.add_stored_domains(piece); });
}

OldStore::OldStore(const Communicator& communicator, const StoreFile& store, unsigned threads,
                   std::uint64_t memory_bytes, const std::string& scratch_folder)
    : communicator_(communicator),
      store_(store),
      threads_(threads),
      shape_(shape_of_ranges(store.header().shape, communicator.ranks())),
      ranges_(shape_, communicator.ranks()),
      added_(store.header().shape, 1, memory_bytes / 2, scratch_folder),
      removed_(store.header().shape, 1, memory_bytes / 2, scratch_folder),
      merge_(store, added_.addresses(), removed_.addresses(), threads_, StoreMerge::kPagesOfPiece,
             ranges_.hashes_of(communicator.rank())) {}

UpdateCounts OldStore::count(const std::atomic<bool>& stop) {
  const UpdateCounts own = merge_.count(stop);
  return {.added = communicator_.sum(own.added),
          .already_there = communicator_.sum(own.already_there),
          .removed = communicator_.sum(own.removed),
          .not_there = communicator_.sum(own.not_there),
          .both = communicator_.sum(own.both)};
}

std::vector<KeyHash> OldStore::domains(UpdateCounts& counts) const {
  std::vector<KeyHash> all;
  if (communicator_.rank() != 0) return all;
  counts += merge_domains(store_, added_.domains(), removed_.domains(),
                          [&](std::span<const KeyHash> run) { all.insert(all.end(), run.begin(), run.end()); });
  return all;
}

std::uint64_t OldStore::merge_into(HashExchange& exchange, const std::atomic<bool>& stop) {
  std::vector<Merged> merged(threads_);
  std::mutex mutex;
  bool has_more = true;                 // under the mutex, like next_piece()
  std::atomic<std::uint64_t> found{0};  // addresses of the old store that were read
  const auto merge_next = [&](Merged& own) {
    std::optional<StoreMerge::Piece> piece;
    {
      const std::lock_guard lock(mutex);
      piece = merge_.next_piece();
      has_more = piece.has_value();
    }
    if (!piece) return false;
    check_stop(stop);
    own.hashes.clear();
    own.done = 0;
    const UpdateCounts counts = merge_.merge(*piece, own.scratch, own.hashes);
    found += own.hashes.size() + counts.removed - counts.added;
    return true;
  };
  const auto hand_on = [&](unsigned index) {
    Merged& own = merged[index];
    HashExchange::Lane& lane = exchange.lane(index);
    while (exchange.has_room_for(kHandedOnAtOnce) && (!own.is_done() || merge_next(own))) {
      const std::size_t end = std::min(own.hashes.size(), own.done + kHandedOnAtOnce);
      for (; own.done < end; ++own.done) lane.add_stored(own.hashes[own.done]);
    }
    lane.settle();
  };
  run_parallel(threads_, hand_on);
  while (has_more || !std::ranges::all_of(merged, &Merged::is_done)) {
    exchange.flush();
    run_parallel(threads_, hand_on);
  }
  store_.require_unchanged();
  return found;
}

}  // namespace bloomgate::mpi
