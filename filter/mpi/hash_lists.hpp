// Lists of hashes between ranks.
#pragma once

#include <span>
#include <vector>

#include "filter/hash/hash.hpp"
#include "filter/mpi/communicator.hpp"

namespace bloomgate::mpi {

// The other rank must receive what one sends.
void send_hashes(const Communicator& communicator, unsigned to, std::span<const KeyHash> hashes);
std::vector<KeyHash> receive_hashes(const Communicator& communicator, unsigned from);

// Merges two lists in ascending order into one that has each hash once. Uses memory only for the result; frees the
// lists.
std::vector<KeyHash> united(std::vector<KeyHash> a, std::vector<KeyHash> b);

// Collective. Returns the hashes of all ranks at rank 0, in order, each once; nothing at the others. Rank 0 needs up to
// 24 bytes for each different hash.
std::vector<KeyHash> hashes_of_all(const Communicator& communicator, std::vector<KeyHash> own);

}  // namespace bloomgate::mpi
