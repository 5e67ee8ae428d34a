// Memory for runs of hashes. When the last owner of a run releases it, its memory is used again: to get new memory from
// the system takes longer than to sort hashes into it. Safe from any thread.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "filter/hash/hash.hpp"

namespace bloomgate {

class HashPool {
 public:
  // An empty vector. Its memory returns to the pool when its last owner releases it. Throws std::bad_alloc.
  std::shared_ptr<std::vector<KeyHash>> take() {
    const auto lent = std::make_shared<Lent>(free_);
    return {lent, &lent->hashes.front()};
  }

 private:
  struct Free {
    std::mutex mutex;
    std::list<std::vector<KeyHash>> all;
  };

  // A list of one element, so that its release allocates nothing.
  struct Lent {
    explicit Lent(std::shared_ptr<Free> from) : free(std::move(from)) {
      {
        const std::lock_guard lock(free->mutex);
        if (!free->all.empty()) hashes.splice(hashes.begin(), free->all, free->all.begin());
      }
      if (hashes.empty()) hashes.emplace_back();
      hashes.front().clear();
    }
    ~Lent() {
      const std::lock_guard lock(free->mutex);
      free->all.splice(free->all.begin(), hashes);
    }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

    std::shared_ptr<Free> free;
    std::list<std::vector<KeyHash>> hashes;
  };

  std::shared_ptr<Free> free_ = std::make_shared<Free>();
};

}  // namespace bloomgate
