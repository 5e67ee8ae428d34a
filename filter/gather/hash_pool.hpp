// Memory for runs of hashes, which is used again once nobody has the run any more: to take it anew from the system
// takes longer than to sort hashes into it. Safe from any thread.
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
  // An empty vector. Its memory comes back by itself. Throws std::bad_alloc.
  std::shared_ptr<std::vector<KeyHash>> take() {
    const auto lent = std::make_shared<Lent>(free_);
    return {lent, &lent->hashes.front()};
  }

 private:
  struct Free {
    std::mutex mutex;
    std::list<std::vector<KeyHash>> all;
  };

  // A list of one, so that giving it back takes no memory.
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
