#include "filter/gather/gathered_domains.hpp"

#include <algorithm>
#include <utility>

#include "filter/domains/sender_domains_encoder.hpp"
#include "filter/gather/sender_domains_section.hpp"

namespace bloomgate {

GatheredDomains::GatheredDomains(const StoreShape& shape, unsigned lanes, std::uint64_t memory_bytes,
                                 std::string scratch_folder)
    : recent_(memory_bytes / 2),
      hashes_(lanes, std::max(memory_bytes / 2, least_hash_bytes(lanes)), std::move(scratch_folder)) {
  for (unsigned i = 0; i < lanes; ++i) lanes_.emplace_back(hashes_.lane(i), recent_, shape);
}

void GatheredDomains::make_room(unsigned threads) {
  std::uint64_t came = 0;
  std::uint64_t passed_on = 0;
  for (const Lane& lane : lanes_) {
    came += lane.recent_.came();
    passed_on += lane.recent_.passed_on();
  }
  if (recent_.should_grow(came, passed_on)) {
    recent_.grow();
    for (Lane& lane : lanes_) lane.recent_.start_again();
  }
  hashes_.make_room_by_uniting(threads, kEntriesAtOnce + RecentDomains::kMostPutOff);
}

GatheredDomains::Counts GatheredDomains::unite(unsigned threads) {
  recent_.end();
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
  recent_.end();
  // Hashes are even over their range. Of 10^8 hashes a partition has 400,000, with a deviation of some thousandths.
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
