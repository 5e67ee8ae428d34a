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

// Collective. At rank 0 those of all ranks, in order, each once; nothing at the others.
std::vector<KeyHash> hashes_of_all(const Communicator& communicator, std::vector<KeyHash> own);

}  // namespace bloomgate::mpi
