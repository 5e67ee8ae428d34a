// Lists of hashes between ranks.
#pragma once

#include <span>
#include <vector>

#include "filter/hash/hash.hpp"
#include "filter/mpi/communicator.hpp"

namespace bloomgate::mpi {

// What one sends, the other must receive.
void send_hashes(const Communicator& communicator, unsigned to, std::span<const KeyHash> hashes);
std::vector<KeyHash> receive_hashes(const Communicator& communicator, unsigned from);

// Of two lists in ascending order one, in which each hash is once. Its memory is what it has; the lists are freed.
std::vector<KeyHash> united(std::vector<KeyHash> a, std::vector<KeyHash> b);

// Collective. At rank 0 those of all ranks, in order, each once; nothing at the others. Rank 0 needs up
// to 24 bytes for each different one.
std::vector<KeyHash> hashes_of_all(const Communicator& communicator, std::vector<KeyHash> own);

}  // namespace bloomgate::mpi
