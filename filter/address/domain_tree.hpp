// The keys that an entry of kind domain_tree could have if it lists a domain. Shared by everything that looks domains
// up. Pure; safe from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "filter/address/limits.hpp"

namespace bloomgate {

// Whether `contains(key)` holds for the `@.domain` of the domain or of one above it. Asks the nearest first. `domain`
// must be canonical.
template <typename Contains>
bool is_in_domain_tree(std::string_view domain, Contains contains) noexcept {
  std::array<char, kMaxKeyBytes> key = {'@', '.'};
  while (!domain.empty()) {
    std::copy(domain.begin(), domain.end(), key.begin() + 2);
    if (contains(std::string_view(key.data(), 2 + domain.size()))) return true;
    // An address literal has dots, but nothing above it.
    const std::size_t dot = domain.front() == '[' ? std::string_view::npos : domain.find('.');
    if (dot == std::string_view::npos) return false;
    domain.remove_prefix(dot + 1);
  }
  return false;
}

}  // namespace bloomgate
