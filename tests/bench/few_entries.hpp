// The whitelist of the benchmarks of a decision. Used by one thread.
#pragma once

#include <string>
#include <vector>

#include "milter/policy/lists.hpp"
#include "tests/support/memory_filter.hpp"

namespace bloomgate::bench {

// These entries among as many bits as a list of a million has, and a domain entry, so that domains are looked up.
class FewEntries final : public Whitelist {
 public:
  explicit FewEntries(const std::vector<std::string>& entries) {
    filter_.insert("@.elsewhere.example");
    for (const std::string& entry : entries) filter_.insert(entry);
    view_ = filter_.view();
  }
  const FilterView& view() const noexcept override { return view_; }
  bool damaged() const noexcept override { return false; }

 private:
  test::MemoryFilter filter_{{.block_count = 256}};
  FilterView view_{{}, {}};
};

}  // namespace bloomgate::bench
