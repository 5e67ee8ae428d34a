// update_store() by the ranks of an MPI job. The result is exactly the pair that one process makes from the same
// request and seed. Each rank reads a share of the lists, and a range of the store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filter/broad/broad_domains.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/jobs/update_job.hpp"
#include "filter/mpi/list_reading.hpp"
#include "filter/mpi/old_store.hpp"
#include "filter/mpi/own_part.hpp"
#include "filter/mpi/rank_options.hpp"

namespace bloomgate::mpi {

class UpdateJob {
 public:
  // Throws what UpdatePlan throws.
  UpdateJob(const Ranks& ranks, UpdateRequest request, RankOptions rank_options);

  // Collective, once. Returns a result at rank 0 only. Throws errors that concern all ranks alike, and UsageError for a
  // request that one process can fulfil and several ranks cannot; any other failure ends the job, by
  // Communicator::fail().
  std::optional<MadeByRanks<UpdateResult>> run();

 private:
  bool is_first() const noexcept { return communicator_.rank() == 0; }
  void open_old();
  void open_old_as_first();
  void tell_options();
  void require_lists() const;
  KindsHeld read_changes(OpenLists& lists, GatheredEntries& entries, const BroadDomains& broad_domains,
                         RejectLog& rejects);
  void read_lists();
  OwnPart merge();

  Ranks ranks_;
  const Communicator& communicator_;
  UpdatePlan plan_;
  RankOptions rank_options_;
  ListReading reading_;
  std::optional<ChangeLock> lock_;  // rank 0's
  std::unique_ptr<StoreFile> store_;
  std::string lack_;      // rank 0's message about a store without the domains of its senders
  BuildOptions options_;  // those of all ranks, except the scratch folder
  std::optional<OldStore> old_;
  KindsHeld added_kinds_;
  std::vector<KeyHash> own_sender_domains_;  // of the lists of --add that this rank has read
  UpdateCounts counts_;                      // at rank 0 with the domain entries
  // Of all ranks:
  std::uint64_t rejected_ = 0;  // of --add
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t spilled_bytes_ = 0;
  double waited_ = 0;  // of this rank
};

}  // namespace bloomgate::mpi
