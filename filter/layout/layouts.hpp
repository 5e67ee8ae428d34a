// The rules of each layout, for the table in layout.cpp.
#pragma once

#include "filter/layout/layout_rules.hpp"

namespace bloomgate {

const LayoutRules& page_layout() noexcept;
const LayoutRules& line_layout() noexcept;
const LayoutRules& classic_layout() noexcept;
const LayoutRules& partitioned_layout() noexcept;
const LayoutRules& ribbon_layout() noexcept;
const LayoutRules& counting_layout() noexcept;

}  // namespace bloomgate
