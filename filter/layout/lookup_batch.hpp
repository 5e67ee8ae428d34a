// Look-ups in batches, for programs that have many. The batch prefetches each key's bits when the key is added, and
// tests them later, when memory has sent them. So a look-up costs the processor's work, and no wait for memory.
//
// Used by `bloomgate query` and `verify`. For one thread; several threads may each have a batch over the same view,
// which must outlive them. Nothing here throws or allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "filter/layout/filter_view.hpp"

namespace bloomgate {

class LookupBatch {
 public:
  // Enough that the first key's memory has arrived when the last key has been added. All their cache lines fit into the
  // first-level cache.
  static constexpr std::size_t kKeys = 64;

  explicit LookupBatch(const FilterView& view) noexcept
      : view_(view),
        rules_(&layout_rules(view.shape().layout)),
        value_is_hash_(rules_->value_is_hash()),
        values_per_entry_(rules_->values_per_entry(view.shape().hashes)) {}

  std::size_t size() const noexcept { return size_; }
  bool full() const noexcept { return size_ == kKeys; }

  // Prefetches the bits of an address's key; the key itself is not kept. The batch must not be full.
  void add(std::string_view key) noexcept {
    std::uint64_t* const values = values_.data() + size_++ * values_per_entry_;
    if (value_is_hash_) {
      values[0] = hash_of_address(view_.shape(), key);
    } else {
      rules_->values_of(view_.shape(), key, values);
    }
    rules_->prefetch(view_.shape(), view_.body().data(), values);
    if (!view_.sender_domains().is_there()) return;
    const DomainNumber domain = domains_[size_ - 1] = view_.sender_domain_number(key);
    view_.sender_domains().prefetch(domain);
  }

  // Calls `visit(number, found)` for each key, in the order of their addition, and then forgets the keys. `found` is
  // the result of FilterView::may_contain().
  template <typename Visit>
  void test(Visit visit) {
    const std::size_t size = size_;
    size_ = 0;
    if (view_.sender_domains().is_there()) {
      for (std::size_t i = 0; i < size; ++i) view_.sender_domains().prefetch_group(domains_[i]);
    }
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t* const values = values_.data() + i * values_per_entry_;
      visit(i, rules_->has_bits(view_.shape(), view_.body().data(), values) && has_domain(i) &&
                   !view_.excludes(values[0]));
    }
  }

 private:
  bool has_domain(std::size_t i) const noexcept {
    return !view_.sender_domains().is_there() || view_.sender_domains().contains(domains_[i]);
  }

  FilterView view_;
  const LayoutRules* rules_;
  bool value_is_hash_;
  std::size_t values_per_entry_;
  std::size_t size_ = 0;
  std::array<std::uint64_t, kKeys * kMaxHashes> values_;
  std::array<DomainNumber, kKeys> domains_;  // of the senders, if they are looked up
};

}  // namespace bloomgate
