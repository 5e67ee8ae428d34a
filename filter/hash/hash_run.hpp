// A run of hashes, and shared ownership of the memory that holds them. So a writer that processes hashes in pieces need
// not copy the hashes that belong to a later piece.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "filter/hash/hash.hpp"

namespace bloomgate {

struct HashRun {
  std::shared_ptr<const std::vector<KeyHash>> memory = {};
  std::span<const KeyHash> hashes = {};

  HashRun() = default;
  // All of them.
  explicit HashRun(std::shared_ptr<const std::vector<KeyHash>> all) : memory(std::move(all)), hashes(*memory) {}
  // Some of them.
  HashRun part(std::span<const KeyHash> some) const {
    HashRun run;
    run.memory = memory;
    run.hashes = some;
    return run;
  }
};

}  // namespace bloomgate
