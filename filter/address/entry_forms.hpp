// The entries by which an address, a domain or a mailing list may be listed where whole texts are compared: as a side
// of a pair (pair.hpp), and before a signer (signer.hpp). Shared by everything that looks these up. Pure; safe from any
// thread.
//
// A look-up asks for each form, and a stranger chooses how many labels the domain has. So no such entry has a domain of
// more than kMaxFormLabels labels, and no suffix with more of them is asked for.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "filter/address/limits.hpp"

namespace bloomgate {

inline constexpr std::size_t kMaxFormLabels = 16;
// The address itself, `@domain`, and `@.domain` for each level.
inline constexpr std::size_t kMostEntryForms = 2 + kMaxFormLabels;

// The key of a mailing list, by its List-Id (RFC 2919), and of all lists below a host, which is none itself. No address
// has a colon before its '@', and no domain entry begins with a letter.
inline constexpr std::string_view kMailingListPrefix = "list:";
inline constexpr std::string_view kMailingListTreePrefix = "list:*.";

constexpr bool is_mailing_list_key(std::string_view key) noexcept {
  return key.starts_with(kMailingListPrefix);
}

// How many labels a canonical domain has; an address literal counts as one.
std::size_t label_count(std::string_view domain) noexcept;

// The keys of the entries that a key of an address, a domain entry or a mailing list may be listed by: the key itself;
// of an address `@domain`; then for its domain and those above it `@.domain`, or for the hosts above a mailing list
// `list:*.host`. Each is a prefix and a part of the key, the most specific one first. `key` must outlive the object.
class EntryForms {
 public:
  struct Form {
    std::string_view prefix;
    std::string_view rest;
  };

  explicit EntryForms(std::string_view key) noexcept;

  const Form* begin() const noexcept { return forms_.data(); }
  const Form* end() const noexcept { return forms_.data() + count_; }

 private:
  void add(std::string_view prefix, std::string_view rest) noexcept { forms_[count_++] = {prefix, rest}; }
  void add_trees(std::string_view prefix, std::string_view domain, bool with_domain) noexcept;

  std::array<Form, kMostEntryForms> forms_;
  std::size_t count_ = 0;
};

}  // namespace bloomgate
