// The entries by which an address, a domain or a mailing list may be listed where whole texts are compared: as a side
// of a pair (pair.hpp), and before a signer (signer.hpp). Shared by everything that looks these up. Pure; safe from any
// thread.
//
// A look-up asks for each form, and the sender of a message chooses how many labels the domain has. So no such entry
// has a domain of more than kMaxFormLabels labels, and look-ups ask for no suffix with more labels.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "filter/address/limits.hpp"

namespace bloomgate {

inline constexpr std::size_t kMaxFormLabels = 16;
// The address itself, `@domain`, and `@.domain` for each level.
inline constexpr std::size_t kMostEntryForms = 2 + kMaxFormLabels;

// The keys of a mailing list, by its List-Id (RFC 2919), and of all lists below a host begin with these. `list:*.host`
// does not list `list:host`. No address has a colon before its '@', and no domain entry begins with a letter.
inline constexpr std::string_view kMailingListPrefix = "list:";
inline constexpr std::string_view kMailingListTreePrefix = "list:*.";

constexpr bool is_mailing_list_key(std::string_view key) noexcept {
  return key.starts_with(kMailingListPrefix);
}

// How many labels a canonical domain has; an address literal counts as one.
std::size_t label_count(std::string_view domain) noexcept;

// The keys of all entries that could list `key`, the key of an address, a domain entry or a mailing list. First comes
// the key itself; for an address, `@domain` follows; then comes `@.domain` for its domain and each domain above, or
// `list:*.host` for each host above a mailing list. Each form is a prefix and a part of the key, the most specific form
// first. `key` must outlive the object.
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
