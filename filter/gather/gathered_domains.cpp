#include "filter/gather/gathered_domains.hpp"

#include <algorithm>
#include <utility>

#include "filter/domains/sender_domains_encoder.hpp"
#include "filter/gather/sender_domains_section.hpp"

namespace bloomgate {

GatheredDomains::GatheredDomains(const StoreShape& shape, unsigned lanes, std::uint64_t memory_bytes,
                                 std::string scratch_folder)
    : hashes_(lanes, memory_bytes, std::move(scratch_folder)) {
  for (unsigned i = 0; i < lanes; ++i) lanes_.emplace_back(hashes_.lane(i), shape);
}

GatheredDomains::Counts GatheredDomains::unite(unsigned threads) {
  for (Lane& lane : lanes_) lane.end();
  hashes_.unite_in_memory(threads);
  CountOfDomains hashes;
  CountOfDomains numbers;
  for_each_hash(threads, [&](std::span<const KeyHash> run) {
    hashes.add(run);
    for (const KeyHash hash : run) numbers.add(domain_number(hash));
  });
  require_possible_number(numbers.count());
  return {hashes.count(), numbers.count()};
}

std::uint64_t GatheredDomains::unite_and_estimate(unsigned threads) {
  if (!hashes_.has_spilled()) return unite(threads).numbers;
  for (Lane& lane : lanes_) lane.end();
  // Hashes are even over their range. Of 10^8 of them a partition has 400,000, and is so large within some thousandths.
  const std::uint64_t estimate = hashes_.sorted_once(0).size() * GatheredHashes::partition_count();
  require_possible_number(estimate);
  return estimate;
}

void GatheredDomains::for_each_number(unsigned threads,
                                      const std::function<void(std::span<const DomainNumber>)>& use) const {
  std::vector<DomainNumber> numbers;
  for_each_hash(threads, [&](std::span<const KeyHash> hashes) {
    numbers.resize(hashes.size());
    std::ranges::transform(hashes, numbers.begin(), domain_number);
    use(numbers);
  });
}

}  // namespace bloomgate
