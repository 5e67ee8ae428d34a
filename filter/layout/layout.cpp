#include "filter/layout/layout.hpp"

#include <array>

#include "filter/layout/layout_rules.hpp"

namespace bloomgate {

const LayoutRules* find_layout(Layout layout) noexcept {
  switch (layout) {
    case Layout::page:
      return &page_layout();
    case Layout::line:
      return &line_layout();
    case Layout::classic:
      return &classic_layout();
    case Layout::partitioned:
      return &partitioned_layout();
    case Layout::ribbon:
      return &ribbon_layout();
    case Layout::counting:
      return &counting_layout();
  }
  return nullptr;
}

const LayoutRules& layout_rules(Layout layout) noexcept {
  return *find_layout(layout);
}

const Layout* find_layout(std::string_view name) noexcept {
  for (const Layout& layout : kLayouts) {
    if (layout_rules(layout).name() == name) return &layout;
  }
  return nullptr;
}

void insert_key(const FilterShape& shape, std::span<std::byte> body, std::string_view key) {
  const LayoutRules& rules = layout_rules(shape.layout);
  std::array<std::uint64_t, kMaxHashes> values;
  rules.values_of(shape, key, values.data());
  rules.set_bits(shape, {body.data()}, std::span(values).first(rules.values_per_entry(shape.hashes)));
}

}  // namespace bloomgate
