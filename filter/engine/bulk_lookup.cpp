#include "filter/engine/bulk_lookup.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "filter/base/parallel.hpp"
#include "filter/domains/sender_domains_cursor.hpp"

namespace bloomgate {
bool BulkLookup::suits(const FilterView& view) noexcept {
  return layout_rules(view.shape().layout).value_is_hash();
}

BulkLookup::BulkLookup(const FilterView& view, unsigned threads, std::uint64_t memory_bytes)
    : view_(view),
      threads_(threads),
      partitions_(HashPartitions::bits_for(view.body().size()), threads, memory_bytes),
      domain_bits_(view.sender_domains()) {
  for (unsigned i = 0; i < threads; ++i) lanes_.emplace_back(partitions_.lane(i), view_, domain_bits_);
}

BulkLookup::DomainBits::DomainBits(const SenderDomains& domains) {
  constexpr std::uint64_t kMostDomains = std::uint64_t{1} << 24;
  if (domains.size() == 0 || domains.size() > kMostDomains) return;
  // 16 to 32 bits for each domain. So at most one in 16 of the unknown domains passes this test.
  const std::uint64_t bits = std::bit_ceil(std::max<std::uint64_t>(domains.size(), 4)) * 16;
  shift = kDomainNumberBits - static_cast<unsigned>(std::countr_zero(bits));
  words.resize(bits / 64);
  for (SenderDomainsCursor cursor(domains); const auto domain = cursor.peek(); cursor.advance()) {
    const std::uint64_t bit = *domain >> shift;
    words[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
}

// Looks up all of them at once, so that they do not wait for memory one after the other.
void BulkLookup::Lane::look_up_domains() {
  const SenderDomains& domains = view_->sender_domains();
  const auto waiting = std::span(waiting_).first(waiting_count_);
  for (Waiting& each : waiting) each.group = domains.prefetch_group(each.domain);
  for (const Waiting& each : waiting) {
    if (!domains.contains(each.domain, each.group)) continue;
    known_[each.domain % kKnownDomains] = each.domain + 1;
    hashes_->add(each.hash);
  }
  waiting_count_ = 0;
}

void BulkLookup::look_up() {
  const LayoutRules& rules = layout_rules(view_.shape().layout);
  const FilterShape& shape = view_.shape();
  const std::byte* const body = view_.body().data();
  std::atomic<std::uint64_t> found{0};
  for_each_parallel(threads_, partitions_.partition_count(), [&](std::size_t partition) {
    std::uint64_t found_here = 0;
    partitions_.for_each_run(partition, [&](std::span<const KeyHash> run) {
      for (const KeyHash& hash : run) {
        found_here += rules.has_bits(shape, body, &hash) && !view_.excludes(hash) ? 1U : 0U;
      }
    });
    found += found_here;
  });
  found_ += found;
  partitions_.clear();
}

std::uint64_t BulkLookup::keys() const noexcept {
  std::uint64_t keys = 0;
  for (const Lane& lane : lanes_) keys += lane.keys_;
  return keys;
}

std::uint64_t BulkLookup::found() const noexcept {
  std::uint64_t found = found_;
  for (const Lane& lane : lanes_) found += lane.found_at_once_;
  return found;
}

}  // namespace bloomgate
