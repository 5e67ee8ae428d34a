// What a rank has of the filter, and of its store, once all lists are read.
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
  std::unique_ptr<StrangerCheck> strangers;  // rank 0 has all of them, another one those of its bits
  std::unique_ptr<OwnBits> bits;
  std::unique_ptr<OwnStore> store;  // if there is to be one
  std::uint64_t addresses = 0;      // of all ranks, like the rest
  KindsHeld kinds = {};
  std::vector<KeyHash> own_domains;
  std::vector<KeyHash> own_sender_domains;  // if the filter gets them
  std::uint64_t sent_bytes = 0;
  double waited = 0;  // of this rank, in s
};

// A part that is ready for hashes. The options, which are those of all ranks but for the scratch folder, say how many
// entries are expected. Throws what the members throw.
OwnPart begin_part(const Ranks& ranks, const FilterRequest& request, const BuildOptions& options);

// For the hashes of a rank that wait for their bits to be set, and as much for the changes of an update. Strangers have
// the other half of what was asked for.
std::uint64_t memory_for_hashes(const FilterRequest& request) noexcept;

// Where this rank puts what does not fit into memory: only rank 0 is sure to have the filter's folder, which is that of
// the request's options unless another one was given.
std::string scratch_folder_of(const Communicator& communicator, const FilterRequest& request);

// What all ranks hold. Each of them must call it.
inline KindsHeld kinds_of_all(const Communicator& communicator, const KindsHeld& own) {
  return {.pairs_in_bits = communicator.sum(own.pairs_in_bits),
          .domain_pairs = communicator.any(own.domain_pairs),
          .signers = communicator.any(own.signers)};
}

}  // namespace bloomgate::mpi
