#include "filter/engine/store_build.hpp"

#include <algorithm>
#include <atomic>

#include "filter/base/parallel.hpp"

namespace bloomgate {

void StoreBuild::take(std::size_t first, std::size_t end, const Gather& gather) {
  const std::size_t count = end - first;
  if (sorted_.size() < count) sorted_.resize(count);
  std::atomic<std::size_t> next{0};
  run_parallel(threads_, [&](unsigned thread) {
    std::vector<KeyHash>& gathered = gathered_[thread];
    for (std::size_t i; (i = next.fetch_add(1)) < count;) {
      gathered.clear();
      gather(first + i, gathered);
      sorted_[i].clear();
      sorters_[thread].sort(gathered, partition_bits_, sorted_[i]);
    }
  });
  for (std::size_t i = 0; i < count; ++i) hand_on_(sorted_[i]);
}

}  // namespace bloomgate
