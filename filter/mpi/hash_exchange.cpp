#include "filter/mpi/hash_exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "filter/mpi/hash_lists.hpp"

namespace bloomgate::mpi {
namespace {

constexpr std::uint64_t kHashesOfLane = std::uint64_t{1} << 19;
constexpr std::uint64_t kRoomMade = kHashesOfLane / 2;  // more than the hashes of any block of a list

}  // namespace

namespace {

void unite(std::vector<KeyHash>& hashes) {
  std::ranges::sort(hashes);
  hashes.erase(std::ranges::unique(hashes).begin(), hashes.end());
}

}  // namespace

void HashExchange::Lane::gather_sender_domain(KeyHash hash) {
  sender_domains_.push_back(hash);
  if (sender_domains_.size() < unite_at_) return;
  unite(sender_domains_);
  unite_at_ = std::max(kLeastUnited, 2 * sender_domains_.size());
  sender_domains_.reserve(unite_at_);  // exactly so many; by itself a vector would take twice as much
}

HashExchange::HashExchange(const Communicator& communicator, const FilterShape& shape, const SharedArray& array,
                           unsigned threads, ReadBytes& read, std::function<void(std::span<const KeyHash>)> take,
                           bool sender_domains)
    : communicator_(communicator), read_(read), take_(std::move(take)) {
  for (unsigned i = 0; i < threads; ++i) lanes_.emplace_back(shape, array, sender_domains);
}

bool HashExchange::has_room_for(std::uint64_t entries) const noexcept {
  return std::ranges::all_of(lanes_, [entries](const Lane& lane) {
    return lane.waiting_.load(std::memory_order_relaxed) + entries <= kHashesOfLane;
  });
}

HashExchange::Outgoing HashExchange::collect() {
  // All ranks together may send twice as much to one rank as one of them sends in all.
  const std::size_t most_for_rank = 2 * lanes_.size() * kHashesOfLane / communicator_.ranks();
  Outgoing outgoing;
  for (unsigned rank = 0; rank < communicator_.ranks(); ++rank) {
    std::size_t count = 0;
    for (Lane& lane : lanes_) {
      std::vector<KeyHash>& hashes = lane.for_ranks_[rank];
      const auto taken = std::min(hashes.size(), most_for_rank - count);
      outgoing.hashes.insert(outgoing.hashes.end(), hashes.end() - static_cast<std::ptrdiff_t>(taken), hashes.end());
      hashes.resize(hashes.size() - taken);
      lane.waiting_ -= taken;
      count += taken;
    }
    outgoing.counts.push_back(count);
  }
  sent_bytes_ += (outgoing.hashes.size() - outgoing.counts[communicator_.rank()]) * sizeof(KeyHash);
  return outgoing;
}

bool HashExchange::run_round(const Outgoing& outgoing, bool done) {
  const Communicator::Received received = communicator_.exchange(outgoing.hashes, outgoing.counts, done, read_.own());
  read_.others = received.others_read;
  take_(received.words);
  return received.all_done;
}

void HashExchange::wait_for_round() {
  if (!round_.valid()) return;
  const auto start = std::chrono::steady_clock::now();
  round_.get();
  waited_ += std::chrono::steady_clock::now() - start;
}

bool HashExchange::has_nothing() const noexcept {
  return std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.waiting_ == 0; });
}

void HashExchange::flush() {
  do {
    wait_for_round();
    round_ = std::async(std::launch::async, [this, outgoing = collect()] { return run_round(outgoing, false); });
  } while (!has_room_for(kRoomMade));
}

void HashExchange::finish() {
  wait_for_round();
  const auto start = std::chrono::steady_clock::now();
  for (bool all_done = false; !all_done;) {
    const Outgoing outgoing = collect();
    all_done = run_round(outgoing, has_nothing());
  }
  waited_ += std::chrono::steady_clock::now() - start;
}

std::uint64_t HashExchange::addresses() const noexcept {
  std::uint64_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.addresses_;
  return sum;
}

KindsHeld HashExchange::kinds() const noexcept {
  KindsHeld sum;
  for (const Lane& lane : lanes_) sum += lane.kinds_;
  return sum;
}

std::vector<KeyHash> HashExchange::domains() const {
  std::vector<KeyHash> all;
  for (const Lane& lane : lanes_) all.insert(all.end(), lane.domains_.begin(), lane.domains_.end());
  unite(all);
  return all;
}

std::vector<KeyHash> HashExchange::take_sender_domains() {
  std::vector<KeyHash> all;
  for (Lane& lane : lanes_) {
    unite(lane.sender_domains_);
    all = united(std::move(all), std::exchange(lane.sender_domains_, {}));
  }
  return all;
}

}  // namespace bloomgate::mpi
