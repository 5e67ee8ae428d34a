// Joins the parts of all ranks to the filter at its path, and its store beside it. Collective; used by the builder.
#pragma once

#include <functional>

#include "filter/file/file_format.hpp"
#include "filter/jobs/filter_request.hpp"
#include "filter/mpi/own_part.hpp"
#include "filter/mpi/rank_options.hpp"

namespace bloomgate::mpi {

struct Written {
  FilterHeader header;
  unsigned senders = 0;  // ranks for which rank 0 has written their part; known to rank 0
};

// Every rank calls it. Rank 0 publishes the files, as FilterBuilder::write() does, and its observer gets warnings. The
// caller must hold the lock of an existing store. Rank 0 calls `approve` before it publishes. `options` are those of
// all ranks. Rank 0 throws what FilterBuilder::write() throws, RankFailure, and BloomgateError{bad_input} if another
// rank has read other excluded senders. Then only the old files are there. In another rank a failure ends the job.
Written write_output(const Ranks& ranks, const RankOptions& rank_options, const FilterRequest& request,
                     const BuildOptions& options, OwnPart& part,
                     const std::function<void(const FilterHeader&)>& approve = {});

// For rank 0's report.
RankNotes notes_of(const Communicator& communicator, const Written& written, const OwnPart& part);

}  // namespace bloomgate::mpi
