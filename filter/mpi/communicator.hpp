// The processes of one job, by MPI (MPI 3.1, "Point-to-Point Communication" and "Collective Communication"): the part
// of MPI that the builder needs, and the only file that includes mpi.h.
//
// A collective call returns once all ranks have made it. A failure within MPI ends the whole job: that is MPI's own
// rule here (MPI_ERRORS_ARE_FATAL). One thread at a time may communicate, not always the same one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bloomgate::mpi {

class Communicator {
 public:
  // Once in a process, before its other threads. Throws BloomgateError{bad_argument} if this MPI does not support
  // programs with threads.
  Communicator(int& argc, char**& argv);
  // Waits for all ranks.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  unsigned rank() const noexcept { return rank_; }  // from 0
  unsigned ranks() const noexcept { return ranks_; }

  // If the flag is true, each call that waits for another rank throws BloomgateError{interrupted}; then the job must
  // end (abort). The flag must outlive this object.
  void stop_at(const std::atomic<bool>& flag) noexcept { stop_ = &flag; }

  // Ends the processes of all ranks, this one included, at once. mpirun's exit status is `status`.
  [[noreturn]] void abort(int status) const noexcept;

  // Reports the exception that is being handled, and returns the exit status for it.
  using FailureReport = int (*)(const Communicator& communicator) noexcept;
  void report_failures_by(FailureReport report) noexcept { report_ = report; }
  int report_failure() const noexcept { return report_(*this); }
  // For the handler of an exception that other ranks have not met, so that they might wait forever.
  [[noreturn]] void fail() const noexcept { abort(report_failure()); }

  // Collective.
  std::uint64_t of_first(std::uint64_t value) const;  // the value of rank 0
  std::string of_first(const std::string& text) const;
  std::uint64_t sum(std::uint64_t value) const;
  bool any(bool value) const { return sum(value ? 1 : 0) != 0; }

  struct Received {
    std::vector<std::uint64_t> words;  // of all ranks
    bool all_done = false;             // whether each rank said so
    std::uint64_t others_read = 0;     // the sum of `read` of the other ranks
  };
  // Collective: sends `counts[r]` of the words, which are in the order of the ranks, to rank r, and tells all ranks
  // whether this one is done and how much it has `read`. Throws BloomgateError{size_overflow} for 2^31 words or more to
  // or from one rank.
  Received exchange(std::span<const std::uint64_t> words, std::span<const std::uint64_t> counts, bool done,
                    std::uint64_t read) const;

  // Between two ranks: the other rank must receive what one sends, in pieces of the same sizes, less than 2 GiB each.
  void send(unsigned to, std::span<const std::byte> bytes) const;
  void receive(unsigned from, std::span<std::byte> bytes) const;

 private:
  unsigned rank_ = 0;
  unsigned ranks_ = 1;
  const std::atomic<bool>* stop_ = nullptr;
  FailureReport report_ = [](const Communicator&) noexcept { return 1; };
};

}  // namespace bloomgate::mpi
