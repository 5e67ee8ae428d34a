// What a rank has of the filter, and of its store, once all lists are read.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/engine/builder.hpp"
#include "filter/hash/hash.hpp"
#include "filter/inputs/stranger_check.hpp"
#include "filter/layout/filter_shape.hpp"
#include "filter/layout/kinds_held.hpp"
#include "filter/mpi/communicator.hpp"
#include "filter/mpi/own_bits.hpp"
#include "filter/mpi/own_store.hpp"
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

struct PartNeeds {
  const std::vector<std::string>& strangers;  // lists of addresses that must not be taken for listed
  const std::atomic<bool>& stop;              // ends their reading
  const JobNames& names;
  bool is_strict = false;
  std::uint64_t memory_bytes = 0;  // for hashes that wait for their bits to be set
  std::string scratch_folder = {};
  std::function<void(std::string_view)> show = {};  // gets what is to be said of strangers
};

// A part that is ready for hashes. The options, which are those of all ranks, say how many entries are expected. Throws
// what the members throw.
OwnPart begin_part(const Communicator& communicator, const BuildOptions& options, const PartNeeds& needs);

// Where this rank puts what does not fit into memory: only rank 0 is sure to have the filter's folder, which is that of
// the options unless another one was given.
std::string scratch_folder_of(const Communicator& communicator, const BuildOptions& options, bool is_given);

// What all ranks hold. Each of them must call it.
inline KindsHeld kinds_of_all(const Communicator& communicator, const KindsHeld& own) {
  return {.pairs_in_bits = communicator.sum(own.pairs_in_bits),
          .domain_pairs = communicator.any(own.domain_pairs),
          .signers = communicator.any(own.signers)};
}

}  // namespace bloomgate::mpi
