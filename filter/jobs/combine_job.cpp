#include "filter/jobs/combine_job.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "filter/base/stop_check.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/output_check.hpp"

namespace bloomgate {

FilterHeader combine(const CombineRequest& request, const std::function<void(std::string_view)>& show,
                     const std::atomic<bool>& stop) {
  const BuildOptions& options = request.options;
  require_can_write(request.output, 0);
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t sum = 0;
  std::vector<std::unique_ptr<MappedFilter>> filters;
  std::vector<const MappedFilter*> views;
  for (const std::string& path : request.filters) {
    const MappedFilter& filter = *filters.emplace_back(std::make_unique<MappedFilter>(path));
    // Damage must not spread into another file.
    filter.verify_body(options.threads, [&](std::uint64_t) { check_stop(stop); });
    least = std::min(least, entries_of(filter.header()));
    sum += entries_of(filter.header());
    views.push_back(&filter);
  }
  request.limits.require(request.combination == Combination::unite ? sum : least, request.output, show);
  const std::string lone_store = warning_of_lone_store(request.output);
  const FilterHeader header =
      combine_filters(views, request.combination, request.output, options.threads, stop, options.sign_key.get());
  if (const std::string lost = lost_sender_domains(header, filters); !lost.empty()) show(lost);
  if (!lone_store.empty()) show(lone_store);
  return header;
}

Comparison compare_filters(const std::string& a, const std::string& b, unsigned threads) {
  const MappedFilter first(a);
  const MappedFilter second(b);
  return {.overlap = estimate_overlap(first, second, threads),
          .with_pairs = first.header().kinds.any_pairs() || second.header().kinds.any_pairs()};
}

}  // namespace bloomgate
