// build_from_lists() by the ranks of an MPI job. The result is exactly the file that one process makes from the same
// request and seed. Each rank reads a share of the lists, and makes a range of the filter, and of its store.
#pragma once

#include <optional>

#include "filter/broad/broad_domains.hpp"
#include "filter/ingest/except_list.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/jobs/build_job.hpp"
#include "filter/mpi/list_reading.hpp"
#include "filter/mpi/own_part.hpp"
#include "filter/mpi/rank_options.hpp"

namespace bloomgate::mpi {

// Throws UsageError for a request that one process can fulfil and several ranks cannot; in all ranks alike.
void require_supported(const BuildPlan& plan);

class BuildJob {
 public:
  // Collective. The plan must outlive it.
  BuildJob(const Ranks& ranks, const BuildPlan& plan, RankOptions rank_options);

  // Collective, once. Returns a result at rank 0 only. Throws errors that concern all ranks alike; any other failure
  // ends the job, by Communicator::fail().
  std::optional<MadeByRanks<BuildResult>> run();

 private:
  bool is_first() const noexcept { return communicator_.rank() == 0; }
  void open_lists();
  void require_same_lists() const;
  void choose_size();
  void count_addresses();
  OwnPart read_lists();
  void check_lists(const OwnPart& part);
  void require_outputs();

  Ranks ranks_;
  const Communicator& communicator_;
  const BuildPlan& plan_;
  RankOptions rank_options_;
  BuildOptions options_;
  ExceptList exceptions_;
  ListReading reading_;
  OpenLists* lists_ = nullptr;  // the lists that were opened last
  std::optional<RejectLog> rejects_;
  std::optional<BroadDomains> broad_domains_;
  std::optional<std::uint64_t> estimate_;
};

}  // namespace bloomgate::mpi
