#include "filter/mpi/communicator.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <thread>

#include "filter/base/error.hpp"
#include "filter/base/stop_check.hpp"

namespace bloomgate::mpi {
namespace {

int checked_count(std::uint64_t count) {
  if (count <= static_cast<std::uint64_t>(std::numeric_limits<int>::max())) return static_cast<int>(count);
  throw BloomgateError(ErrorCode::size_overflow,
                       "more than 2^31 hashes would go to one rank at once; run with fewer threads for each rank");
}

// Where each of the consecutive pieces of `counts` begins, and where the last one ends.
std::vector<int> places_of(std::span<const int> counts) {
  std::vector<int> places = {0};
  std::uint64_t end = 0;
  for (const int count : counts) places.push_back(checked_count(end += static_cast<std::uint64_t>(count)));
  return places;
}

// MPI's own waiting would use a whole processor, which the reading threads could use.
void wait_for(MPI_Request request, const std::atomic<bool>* stop) {
  constexpr std::chrono::microseconds kPause(20);
  while (true) {
    if (stop != nullptr) check_stop(*stop);
    int is_done = 0;
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0) return;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

Communicator::Communicator(int& argc, char**& argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  if (provided < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    throw BloomgateError(ErrorCode::bad_argument, "this MPI does not serve programs with threads; take another one");
  }
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rank_ = static_cast<unsigned>(rank);
  ranks_ = static_cast<unsigned>(ranks);
}

Communicator::~Communicator() {
  MPI_Finalize();
}

void Communicator::abort(int status) const noexcept {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

std::uint64_t Communicator::of_first(std::uint64_t value) const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
  wait_for(request, stop_);
  return value;
}

std::string Communicator::of_first(const std::string& text) const {
  std::string told = text;
  told.resize(of_first(text.size()));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(told.data(), checked_count(told.size()), MPI_CHAR, 0, MPI_COMM_WORLD, &request);
  wait_for(request, stop_);
  return told;
}

std::uint64_t Communicator::sum(std::uint64_t value) const {
  std::uint64_t total = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&value, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
  wait_for(request, stop_);
  return total;
}

Communicator::Received Communicator::exchange(std::span<const std::uint64_t> words,
                                              std::span<const std::uint64_t> counts, bool done,
                                              std::uint64_t read) const {
  // A rank sends three numbers to each other rank: how many words it will get, whether this is its last round with any,
  // and how much it has read.
  constexpr int kTold = 3;
  std::vector<std::uint64_t> told;
  for (const std::uint64_t count : counts) told.insert(told.end(), {count, done ? 1U : 0U, read});
  std::vector<std::uint64_t> heard(kTold * std::size_t{ranks_});
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ialltoall(told.data(), kTold, MPI_UINT64_T, heard.data(), kTold, MPI_UINT64_T, MPI_COMM_WORLD, &request);
  wait_for(request, stop_);

  std::vector<int> send_counts;
  std::vector<int> receive_counts;
  Received received = {.words = {}, .all_done = true, .others_read = 0};
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    send_counts.push_back(checked_count(counts[rank]));
    receive_counts.push_back(checked_count(heard[kTold * rank]));
    received.all_done &= heard[kTold * rank + 1] != 0;
    received.others_read += rank == rank_ ? 0 : heard[kTold * rank + 2];
  }
  const std::vector<int> send_places = places_of(send_counts);
  const std::vector<int> receive_places = places_of(receive_counts);
  received.words.resize(static_cast<std::size_t>(receive_places.back()));
  MPI_Ialltoallv(words.data(), send_counts.data(), send_places.data(), MPI_UINT64_T, received.words.data(),
                 receive_counts.data(), receive_places.data(), MPI_UINT64_T, MPI_COMM_WORLD, &request);
  wait_for(request, stop_);
  return received;
}

void Communicator::send(unsigned to, std::span<const std::byte> bytes) const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(bytes.data(), checked_count(bytes.size()), MPI_BYTE, static_cast<int>(to), 0, MPI_COMM_WORLD, &request);
  wait_for(request, stop_);
}

void Communicator::receive(unsigned from, std::span<std::byte> bytes) const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(bytes.data(), checked_count(bytes.size()), MPI_BYTE, static_cast<int>(from), 0, MPI_COMM_WORLD, &request);
  wait_for(request, stop_);
}

}  // namespace bloomgate::mpi
