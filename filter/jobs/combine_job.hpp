// Combines filters without their lists, and compares two. Used by `bloomgate merge`, `intersect` and `compare`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/engine/combine.hpp"
#include "filter/file/file_format.hpp"
#include "filter/jobs/filter_request.hpp"

namespace bloomgate {

// `output` may be one of the filters.
struct CombineRequest : FilterRequest {
  std::vector<std::string> filters;  // at least two
  Combination combination = Combination::unite;
};

// Throws what LossLimits refuses, for the most entries that the result can have, and what MappedFilter,
// require_can_write() and combine_filters() throw. `show` gets warnings: of LossLimits, and of what is lost.
FilterHeader combine(const CombineRequest& request, const std::function<void(std::string_view)>& show,
                     const std::atomic<bool>& stop);

struct Comparison {
  Overlap overlap;
  bool with_pairs = false;  // one of them has pairs

  std::uint64_t domains_of_either() const noexcept {
    return overlap.domains_of_a + overlap.domains_of_b - overlap.domains_of_both;
  }
};

// Throws what MappedFilter and estimate_overlap() throw.
Comparison compare_filters(const std::string& a, const std::string& b, unsigned threads);

}  // namespace bloomgate
