// Options and notes of a job that only make sense with several ranks.
#pragma once

#include "filter/jobs/job_observer.hpp"
#include "filter/mpi/communicator.hpp"

namespace bloomgate::mpi {

struct RankOptions {
  bool local_lists = false;        // each rank has its own lists
  bool only_first_writes = false;  // rank 0 writes the parts of all ranks
};

// The ranks of a job, the observer of this rank, and the flag that stops it. All three must outlive the job.
struct Ranks {
  const Communicator& communicator;
  JobObserver& observer;
  const std::atomic<bool>& stop;
};

// What rank 0 reports about the work of the ranks.
struct RankNotes {
  unsigned ranks = 0;
  unsigned writers = 0;          // ranks that have written their parts themselves
  std::uint64_t sent_bytes = 0;  // between them
  double waited = 0;             // of rank 0, in s
};
template <typename Result>
struct MadeByRanks {
  Result result;
  RankNotes notes;
};

}  // namespace bloomgate::mpi
