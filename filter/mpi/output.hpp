// From the parts of all ranks to the filter at its path, and its store beside it. Collective; used by the builder.
#pragma once

#include "filter/file/file_format.hpp"
#include "filter/jobs/filter_request.hpp"
#include "filter/mpi/own_part.hpp"
#include "filter/mpi/rank_options.hpp"

namespace bloomgate::mpi {

struct Written {
  FilterHeader header;
  unsigned senders = 0;  // ranks whose part rank 0 has written for them; known to rank 0
};

// Every rank calls it; rank 0 puts the files in place, as FilterBuilder::write() does, and its observer gets warnings.
// The lock of a store that is there is the caller's. `options` are those of all ranks. Rank 0 throws what
// FilterBuilder::write() throws, RankFailure, and BloomgateError{bad_input} where another rank has read other
// strangers. Then the old files stay, and nothing else. In another rank a failure ends the job.
Written write_output(const Ranks& ranks, const RankOptions& rank_options, const FilterRequest& request,
                     const BuildOptions& options, OwnPart& part);

// For rank 0's report.
RankNotes notes_of(const Communicator& communicator, const Written& written, const OwnPart& part);

}  // namespace bloomgate::mpi
