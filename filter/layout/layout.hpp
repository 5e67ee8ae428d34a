// All layouts, by value and by name.
//
// Used by FilterView, the builder and the sizing, which choose the rules once per filter and not once per probe. Safe
// from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "filter/layout/filter_shape.hpp"
#include "filter/layout/layout_rules.hpp"

namespace bloomgate {

inline constexpr Layout kLayouts[] = {Layout::page,        Layout::line,   Layout::classic,
                                      Layout::partitioned, Layout::ribbon, Layout::counting};

// The rules of a layout; null for one that this version does not know.
const LayoutRules* find_layout(Layout layout) noexcept;

// The same for a layout of kLayouts.
const LayoutRules& layout_rules(Layout layout) noexcept;

// The layout of that name; null if there is none.
const Layout* find_layout(std::string_view name) noexcept;

// Adds a key to an array in memory: all that a builder does for one entry. Not for layouts that need_whole_blocks().
void insert_key(const FilterShape& shape, std::span<std::byte> body, std::string_view key);

}  // namespace bloomgate
