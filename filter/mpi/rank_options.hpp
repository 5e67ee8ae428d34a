// What a job on one machine has no use for.
#pragma once

#include "filter/jobs/job_observer.hpp"
#include "filter/mpi/communicator.hpp"

namespace bloomgate::mpi {

struct RankOptions {
  bool local_lists = false;        // each rank has lists of its own
  bool only_first_writes = false;  // rank 0 writes the parts of all ranks
};

// Who works, and whom a rank tells of it. All three have to outlive the job.
struct Ranks {
  const Communicator& communicator;
  JobObserver& observer;
  const std::atomic<bool>& stop;
};

// What rank 0 has made, and what that took of the ranks.
struct RankNotes {
  unsigned ranks = 0;
  unsigned writers = 0;          // that have written their parts themselves
  std::uint64_t sent_bytes = 0;  // between them
  double waited = 0;             // of rank 0, in s
};
template <typename Result>
struct MadeByRanks {
  Result result;
  RankNotes notes;
};

}  // namespace bloomgate::mpi
