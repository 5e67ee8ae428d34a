// Combines filters without their lists, and compares two. Used by `bloomgate merge`, `intersect` and `compare`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "filter/engine/combine.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/secret_key.hpp"

namespace bloomgate {

struct CombineOptions {
  std::vector<std::string> filters;  // two at least
  Combination combination = Combination::unite;
  std::string output;  // may be one of the filters
  std::optional<SecretKey> key = {};
  unsigned threads = 1;
};

class CombineJob {
 public:
  // `stop` has to outlive it.
  CombineJob(CombineOptions options, const std::atomic<bool>& stop) : options_(std::move(options)), stop_(stop) {}

  // Once. Calls `review` before anything is written, with the most entries that the result can have: what it throws
  // ends the job. Throws what MappedFilter, require_can_write() and combine_filters() throw. Returns the header as
  // written.
  FilterHeader run(const std::function<void(std::uint64_t most_entries)>& review);

  // Open once run() has begun.
  const std::vector<std::unique_ptr<MappedFilter>>& filters() const noexcept { return filters_; }

 private:
  CombineOptions options_;
  const std::atomic<bool>& stop_;
  std::vector<std::unique_ptr<MappedFilter>> filters_;
};

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
