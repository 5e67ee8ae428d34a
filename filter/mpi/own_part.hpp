// The part of the filter, and of its store, that a rank has when all lists are read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filter/address/kinds_held.hpp"
#include "filter/hash/hash.hpp"
#include "filter/inputs/stranger_check.hpp"
#include "filter/jobs/filter_request.hpp"
#include "filter/layout/filter_shape.hpp"
#include "filter/mpi/communicator.hpp"
#include "filter/mpi/own_bits.hpp"
#include "filter/mpi/own_store.hpp"
#include "filter/mpi/rank_options.hpp"
#include "filter/mpi/shared_array.hpp"

namespace bloomgate::mpi {

struct OwnPart {
  FilterShape shape = {};
  std::optional<SharedArray> array;
  std::unique_ptr<StrangerCheck> strangers;  // at rank 0 all of them, at another rank those of its bits
  std::unique_ptr<OwnBits> bits;
  std::unique_ptr<OwnStore> store;  // if a store is written
  std::uint64_t addresses = 0;      // of all ranks, and so is `kinds`
  KindsHeld kinds = {};
  std::vector<KeyHash> own_domains;
  std::vector<KeyHash> own_sender_domains;  // if the filter gets them
  std::uint64_t sent_bytes = 0;
  double waited = 0;  // of this rank, in s
};

// A part that is ready for hashes. The options, which are the same for all ranks except the scratch folder, say how
// many entries are expected. Throws what the members throw.
OwnPart begin_part(const Ranks& ranks, const FilterRequest& request, const BuildOptions& options);

// The memory for a rank's hashes until their bits are set; an update has as much again for its changes. Excluded
// senders get the other half of the requested memory.
std::uint64_t memory_for_hashes(const FilterRequest& request) noexcept;

// Where this rank puts what does not fit into memory. Only rank 0 is sure to have the filter's folder, which is the
// default of the request's options.
std::string scratch_folder_of(const Communicator& communicator, const FilterRequest& request);

// The kinds of entries that all ranks hold together. Collective.
inline KindsHeld kinds_of_all(const Communicator& communicator, const KindsHeld& own) {
  return {.pairs_in_bits = communicator.sum(own.pairs_in_bits),
          .domain_pairs = communicator.any(own.domain_pairs),
          .signers = communicator.any(own.signers)};
}

}  // namespace bloomgate::mpi
