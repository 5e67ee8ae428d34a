#include "filter/layout/rate_of_bits.hpp"

#include <cmath>
#include <cstdint>
#include <span>

#include "filter/layout/ribbon_rate.hpp"

namespace bloomgate {
namespace {

// The share of ones in a part of the array, or of counters that are not 0.
double fill_of(const FilterView& view, std::uint64_t begin, std::uint64_t bytes) noexcept {
  const FilterView part(view.shape(), view.body().subspan(begin, bytes));
  const double places = 8 * static_cast<double>(bytes) / bits_of_place(view.shape().layout);
  return static_cast<double>(part.count_ones()) / places;
}

}  // namespace

RateOfBits rate_of_bits(const FilterView& view) noexcept {
  const FilterShape& shape = view.shape();
  const LayoutParts parts = layout_rules(shape.layout).parts(shape);
  if (shape.layout == Layout::ribbon) return {ribbon_rate(view.body()), 0};
  double sum = 0;
  double product = 1;
  for (std::uint64_t part = 0; part < parts.count; ++part) {
    const double fill = fill_of(view, part * parts.bytes, parts.bytes);
    sum += std::pow(fill, shape.hashes);
    product *= fill;
  }
  if (shape.layout != Layout::classic && shape.layout != Layout::partitioned) {
    return {sum / static_cast<double>(parts.count), 0};
  }
  const double double_hashing = 2 / (8 * static_cast<double>(view.body().size()));
  // In the layout classic the only part is the whole array.
  return {shape.layout == Layout::classic ? sum : product, double_hashing};
}

}  // namespace bloomgate
