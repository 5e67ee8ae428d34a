// Brings the hashes of entries, in the form of a store, from the rank that has read them to the rank that has their
// blocks, and to the rank that puts them into the store, which is a different one for few hashes. Its interface is that
// of FilterBuilder: lanes are for worker threads, one thread at a time for each; everything else is for one thread
// while no lane is in use.
//
// The ranks exchange in rounds, in which all of them take part until the last one has read all. A round runs in its own
// thread while the workers read for the next one. For each thread a rank keeps up to 4 MiB of hashes, as much again
// during a round, and receives twice as much at most: if all entries were the same, they would take more rounds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/address/kinds_held.hpp"
#include "filter/domains/neighbours.hpp"
#include "filter/domains/sender_domain.hpp"
#include "filter/gather/recent_domains.hpp"
#include "filter/layout/filter_shape.hpp"
#include "filter/mpi/communicator.hpp"
#include "filter/mpi/shared_array.hpp"

namespace bloomgate::mpi {

// The progress of the reading, which rank 0 shows. Each round updates it.
struct ReadBytes {
  std::function<std::uint64_t()> own;    // safe from any thread
  std::atomic<std::uint64_t> others{0};  // of all other ranks, as of the last round
};

class HashExchange {
 public:
  class Lane {
   public:
    Lane(const FilterShape& shape, const SharedArray& array, bool sender_domains)
        : shape_(shape),
          array_(&array),
          for_ranks_(array.ranks()),
          recent_domains_(sender_domains ? std::make_unique<Recent>() : nullptr) {}

    // `entry` must be a key (Entry::is_key()).
    void add(const Entry& entry) {
      if (goes_into_bits(entry.kind())) {
        const std::string_view domain = sender_domain_of(entry.key());
        entry.is_pair() ? add_pair(entry.key(), domain) : add_address(entry.key(), domain);
      } else {
        domains_.push_back(hash_of_domain(shape_, entry.key()));
        kinds_.note_kept_exactly(entry.kind());
        const NeighboursKey neighbours = neighbours_key(entry.key());
        if (recent_domains_ && !neighbours.view().empty()) add_sender_domain(neighbours.view());
      }
    }
    // `domain` is that of the sender (sender_domain_of).
    void add_pair(std::string_view key, std::string_view domain) {
      if (recent_domains_) add_sender_domain(domain);
      add_stored(stored_hash(shape_, key));
      ++kinds_.pairs_in_bits;
    }
    void add_address(std::string_view key, std::string_view domain) {
      if (recent_domains_) add_sender_domain(domain);
      add_stored(stored_hash(shape_, key));
    }
    // An address from a store.
    void add_stored(KeyHash stored) {
      const unsigned owner = array_->owner_of(shape_.store_seed ? mix_hash(stored, shape_.seed) : stored);
      send(owner, stored);
      if (shape_.store_seed) {
        if (const unsigned keeper = array_->keeper_of(stored); keeper != owner) send(keeper, stored);
      }
      ++addresses_;
    }
    void settle() {
      if (recent_domains_) recent_domains_->lane.settle([this](KeyHash hash) { gather_sender_domain(hash); });
    }

   private:
    friend class HashExchange;
    struct Recent {
      RecentDomains table;
      RecentDomains::Lane lane{table};
    };
    static constexpr std::size_t kLeastUnited = std::size_t{1} << 16;

    void add_sender_domain(std::string_view domain_key) {
      recent_domains_->lane.add(hash_of_domain(shape_, domain_key),
                                [this](KeyHash hash) { gather_sender_domain(hash); });
    }
    void gather_sender_domain(KeyHash hash);
    void send(unsigned rank, KeyHash stored) {
      for_ranks_[rank].push_back(stored);
      waiting_.store(waiting_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    FilterShape shape_;
    const SharedArray* array_;
    std::vector<std::vector<KeyHash>> for_ranks_;
    std::vector<KeyHash> domains_;
    std::unique_ptr<Recent> recent_domains_;  // null if sender domains are not gathered
    std::vector<KeyHash> sender_domains_;
    std::size_t unite_at_ = kLeastUnited;    // remove duplicates when there are so many
    std::atomic<std::uint64_t> waiting_{0};  // of for_ranks_; read by other workers
    std::uint64_t addresses_ = 0;
    KindsHeld kinds_ = {};
  };

  // `take` is called with the hashes of this rank's range that all ranks have read, one round at a time, in one thread
  // at a time. If it throws, flush() or finish() passes that on. With `sender_domains`, the domains of what its lanes
  // read are gathered, too. All arguments except the function must outlive the object.
  HashExchange(const Communicator& communicator, const FilterShape& shape, const SharedArray& array, unsigned threads,
               ReadBytes& read, std::function<void(std::span<const KeyHash>)> take, bool sender_domains = false);
  // No round may be under way: after a failure the whole job must end (Communicator::abort).
  ~HashExchange() = default;
  HashExchange(const HashExchange&) = delete;
  HashExchange& operator=(const HashExchange&) = delete;

  Lane& lane(unsigned index) noexcept { return lanes_[index]; }
  // Whether each lane can take so many more. Safe from any thread.
  bool has_room_for(std::uint64_t entries) const noexcept;

  // Makes room: begins a round with what the lanes have, once the round before it is over.
  void flush();
  // Sends the rest, and takes part in rounds until all ranks have called it.
  void finish();

  // For this rank: what its lists hold, and the domain entries among it.
  std::uint64_t addresses() const noexcept;
  KindsHeld kinds() const noexcept;
  std::vector<KeyHash> domains() const;
  // The hashes of the domains of its addresses, each once. Call it once, after finish().
  std::vector<KeyHash> take_sender_domains();

  // After finish(): the bytes sent to other ranks, and the time that this rank waited for rounds.
  std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }
  std::chrono::duration<double> waited() const noexcept { return waited_; }

 private:
  struct Outgoing {
    std::vector<KeyHash> hashes;        // in the order of the ranks
    std::vector<std::uint64_t> counts;  // for each rank
  };

  Outgoing collect();
  bool has_nothing() const noexcept;
  bool run_round(const Outgoing& outgoing, bool done);
  void wait_for_round();

  const Communicator& communicator_;
  ReadBytes& read_;
  std::function<void(std::span<const KeyHash>)> take_;
  std::deque<Lane> lanes_;
  std::future<bool> round_;
  std::uint64_t sent_bytes_ = 0;
  std::chrono::duration<double> waited_{0};
};

}  // namespace bloomgate::mpi
