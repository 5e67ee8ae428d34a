// Wildcards as other programs have them, `*@example.org`, `%@example.org`, `*.example.org`, and the domain entries that
// their writers mean. In lists only: a message may have such a sender. Used by address.cpp. Pure; safe from any thread.
#pragma once

#include <string_view>

#include "filter/address/domain.hpp"

namespace bloomgate {

// Whether a canonical local part is a wildcard, and so the address that of no mailbox.
constexpr bool is_wildcard(std::string_view local_part) noexcept {
  return local_part == "*" || local_part == "%";
}

struct Wildcard {
  std::string_view prefix;  // of the domain entry, "@" or "@."; empty if the text is no wildcard
  Domain domain;
};

// Of the first word of an entry, with angle brackets or without.
Wildcard read_wildcard(std::string_view word) noexcept;

}  // namespace bloomgate
