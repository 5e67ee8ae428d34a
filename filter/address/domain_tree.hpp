// Finds the entry of kind domain_tree that lists a domain. Shared by everything that looks domains up. Pure; safe from
// any thread.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "filter/address/limits.hpp"

namespace bloomgate {

// Returns `domain`, or the nearest domain above it, for which `contains("@." + domain)` holds; empty if there is none.
// `domain` must be canonical; the result is a part of it.
template <typename Contains>
std::string_view find_domain_tree(std::string_view domain, Contains contains) noexcept {
  std::array<char, kMaxKeyBytes> key;
  std::copy(domain.begin(), domain.end(), key.begin() + 2);
  for (std::size_t begin = 0; begin < domain.size();) {
    // These two bytes overwrite the end of the label before, which is no longer needed.
    key[begin] = '@';
    key[begin + 1] = '.';
    const std::string_view level = domain.substr(begin);
    if (contains(std::string_view(key.data() + begin, 2 + level.size()))) return level;
    // An address literal has dots, but no domain above it.
    const std::size_t dot = level.front() == '[' ? std::string_view::npos : level.find('.');
    if (dot == std::string_view::npos) break;
    begin += dot + 1;
  }
  return {};
}

}  // namespace bloomgate
