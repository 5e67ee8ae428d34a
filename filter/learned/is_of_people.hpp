// Whether an address belongs to one of the people, who may be known by hashes of their texts alone. Pure.
#pragma once

#include <string_view>

#include "filter/address/address.hpp"
#include "filter/address/domain_tree.hpp"
#include "filter/address/limits.hpp"
#include "filter/address/tag_separators.hpp"

namespace bloomgate {

// `address` is a canonical key; no other text is of anybody but by itself. `is_person` takes the key of a person: the
// address as it is, the address without its tags after '+', `@domain`, and `@.domain` for each level.
template <typename IsPerson>
bool is_of_people(std::string_view address, IsPerson is_person) noexcept {
  static const AddressProfile untagged = {.tag_separators = *TagSeparators::parse("+")};
  if (is_person(address)) return true;
  const std::size_t at = address.rfind('@');
  if (at == std::string_view::npos || address.size() - at >= kMaxKeyBytes) return false;
  return is_person(canonicalize_path(address, untagged).key()) || is_person(address.substr(at)) ||
         !find_domain_tree(address.substr(at + 1), is_person).empty();
}

// Whether it is of that person, whom an address, `@domain` or `@.domain` names.
inline bool is_of_person(std::string_view address, const Entry& person) noexcept {
  return is_of_people(address, [&person](std::string_view key) noexcept { return key == person.key(); });
}

}  // namespace bloomgate
