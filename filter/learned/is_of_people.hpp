// Whether an address belongs to one of the people, of whom only the hashes of their texts may be known. Pure.
#pragma once

#include <string_view>

#include "filter/address/address.hpp"
#include "filter/address/domain_tree.hpp"
#include "filter/address/limits.hpp"
#include "filter/address/tag_separators.hpp"

namespace bloomgate {

// `address` is a canonical key; any other text matches only itself. `is_person(key)` is called with each key that the
// person could have: the address as it is, the address without its tags after '+', `@domain`, and `@.domain` for each
// level.
template <typename IsPerson>
bool is_of_people(std::string_view address, IsPerson is_person) noexcept {
  static constexpr AddressProfile untagged = {.tag_separators = kUsualTagSeparators};
  if (is_person(address)) return true;
  const std::size_t at = address.rfind('@');
  if (at == std::string_view::npos || address.size() - at >= kMaxKeyBytes) return false;
  return is_person(canonicalize_path(address, untagged).key()) || is_person(address.substr(at)) ||
         !find_domain_tree(address.substr(at + 1), is_person).empty();
}

// Whether the address belongs to that person, given by an address, `@domain` or `@.domain`.
inline bool is_of_person(std::string_view address, const Entry& person) noexcept {
  return is_of_people(address, [&person](std::string_view key) noexcept { return key == person.key(); });
}

}  // namespace bloomgate
