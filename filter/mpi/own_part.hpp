// What a rank has of the filter, and of its store, once all lists are read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "filter/cli/lists/stranger_check.hpp"
#include "filter/hash/hash.hpp"
#include "filter/layout/filter_shape.hpp"
#include "filter/layout/pairs_held.hpp"
#include "filter/mpi/own_bits.hpp"
#include "filter/mpi/own_store.hpp"
#include "filter/mpi/shared_array.hpp"

namespace bloomgate::mpi {

struct OwnPart {
  FilterShape shape = {};
  std::optional<SharedArray> array;
  std::unique_ptr<cli::StrangerCheck> strangers;  // rank 0 has all of them, another one those of its bits
  std::unique_ptr<OwnBits> bits;
  std::unique_ptr<OwnStore> store;  // if there is to be one
  std::uint64_t addresses = 0;      // of all ranks, like the rest
  PairsHeld pairs = {};
  std::vector<KeyHash> own_domains;
  std::uint64_t sent_bytes = 0;
  double waited = 0;  // of this rank, in s
};

}  // namespace bloomgate::mpi
