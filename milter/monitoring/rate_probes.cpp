#include "milter/monitoring/rate_probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>

#include "filter/hash/hash.hpp"

namespace bloomgate {
namespace {

// As long as a typical address. Hexadecimal digits, so it has no at sign.
std::string key_of_nobody() {
  return fmt::format("{:016x}{:016x}", random_seed(), random_seed());
}

}  // namespace

void RateProbes::probe(const LoadedLists& lists) noexcept {
  try {
    std::vector<Seen> now;
    for (const NamedFilter& each : lists.parts().whitelists) {
      if (!each.filter) continue;
      Seen seen = {each.filter, of(*each.filter)};
      const bool is_hit = each.filter->view().without_sender_domains().may_contain(key_of_nobody());
      // This look-up may itself have found the damage.
      if (!each.filter->damaged()) {
        ++seen.probes.probes;
        seen.probes.hits += is_hit ? 1 : 0;
      }
      now.push_back(std::move(seen));
    }
    seen_ = std::move(now);
  } catch (const std::exception&) {
    return;  // no memory, or no random numbers: one probe less
  }
}

Probes RateProbes::of(const LoadedFilter& whitelist) const noexcept {
  // Two objects may have had the same address, but not at the same time.
  const auto found =
      std::ranges::find_if(seen_, [&whitelist](const Seen& seen) { return seen.whitelist.lock().get() == &whitelist; });
  return found == seen_.end() ? Probes{} : found->probes;
}

double expected_rate_of_bits(const LoadedFilter& whitelist) noexcept {
  return expected_fpr_of(whitelist.header());
}

}  // namespace bloomgate
