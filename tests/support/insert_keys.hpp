// Keys into an array in memory, in any layout.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "filter/layout/layout.hpp"

namespace bloomgate::test {

// Those that take one key after the other.
inline constexpr Layout kLayoutsOfBits[] = {Layout::page, Layout::line, Layout::classic, Layout::partitioned};

// Puts all keys into an empty array; `key_of(i)` gives them for i in [0, count).
template <typename KeyOf>
void insert_keys(const FilterShape& shape, std::span<std::byte> body, std::uint64_t count, KeyOf key_of) {
  const LayoutRules& rules = layout_rules(shape.layout);
  std::map<std::uint64_t, std::vector<std::uint64_t>> blocks;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!rules.needs_whole_blocks()) {
      insert_key(shape, body, key_of(i));
      continue;
    }
    std::array<std::uint64_t, kMaxHashes> values;
    rules.values_of(shape, key_of(i), values.data());
    blocks[rules.bytes_of(shape, values[0]).begin].push_back(values[0]);
  }
  for (const auto& [begin, values] : blocks) rules.set_bits(shape, {body.data()}, values);
}

}  // namespace bloomgate::test
