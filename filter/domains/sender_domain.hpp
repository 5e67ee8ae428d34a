// The domain that the section `sender-domains` has for an entry of the bits: that of its sender. Pure; safe from any
// thread.
#pragma once

#include <cstring>
#include <string_view>

#include "filter/address/pair.hpp"

namespace bloomgate {

// The key `@domain` of the domain of an address: a part of its key. It is exactly the canonical domain, neither one
// above it nor one below it. An address literal counts as a domain.
inline std::string_view domain_of_address(std::string_view key) noexcept {
  // Only a local part in quotes may have an '@' of its own, so the last one begins the domain. (memrchr(3) takes a
  // fraction of the time of rfind().)
  const auto* const at = static_cast<const char*>(memrchr(key.data(), '@', key.size()));
  if (at == nullptr) return key;
  return {at, key.data() + key.size()};  // substr(), which may throw, is not inlined everywhere
}

// The same for an address, or for the sender of a pair of addresses.
inline std::string_view sender_domain_of(std::string_view key) noexcept {
  return domain_of_address(is_pair_key(key) ? sides_of_pair(key).sender : key);
}

}  // namespace bloomgate
