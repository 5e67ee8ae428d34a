#include "filter/jobs/combine_job.hpp"

#include <algorithm>
#include <limits>

#include "filter/base/stop_check.hpp"
#include "filter/file/output_check.hpp"

namespace bloomgate {

FilterHeader CombineJob::run(const std::function<void(std::uint64_t most_entries)>& review) {
  require_can_write(options_.output, 0);
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t sum = 0;
  std::vector<const MappedFilter*> views;
  for (const std::string& path : options_.filters) {
    const MappedFilter& filter = *filters_.emplace_back(std::make_unique<MappedFilter>(path));
    // Damage must not spread into another file.
    filter.verify_body(options_.threads, [this](std::uint64_t) { check_stop(stop_); });
    least = std::min(least, entries_of(filter.header()));
    sum += entries_of(filter.header());
    views.push_back(&filter);
  }
  review(options_.combination == Combination::unite ? sum : least);
  return combine_filters(views, options_.combination, options_.output, options_.threads, stop_,
                         options_.key ? &*options_.key : nullptr);
}

Comparison compare_filters(const std::string& a, const std::string& b, unsigned threads) {
  const MappedFilter first(a);
  const MappedFilter second(b);
  return {.overlap = estimate_overlap(first, second, threads),
          .with_pairs = first.header().kinds.any_pairs() || second.header().kinds.any_pairs()};
}

}  // namespace bloomgate
