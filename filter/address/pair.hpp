// Entries for one recipient: pairs, `sender > recipient`, where each side is an address, `@domain` or `@.domain`. How
// the key of a pair is made of the keys of its sides, and which pairs could list a sender for a recipient. Shared by
// the builder and by everything that looks pairs up. Pure; safe from any thread.
//
// The key is the two keys with a line feed between them. No key has a line feed and none ever will, as lists and SMTP
// are both made of lines: so the key of a pair is never that of an address, nor that of another pair.
//
// Whoever looks a pair up asks for each form of the sender with each form of the recipient, and a stranger chooses how
// many labels the sender's domain has. So a pair has no domain of more than kMaxPairLabels labels, and no suffix with
// more of them is asked for: at most kMostPairForms forms of each side.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "filter/address/limits.hpp"
#include "filter/base/fixed_text.hpp"

namespace bloomgate {

inline constexpr char kPairSeparator = '\n';
inline constexpr std::size_t kMaxPairKeyBytes = kMaxKeyBytes + 1 + kMaxKeyBytes;
inline constexpr std::size_t kMaxPairLabels = 16;
// The address itself, `@domain`, and `@.domain` for each level.
inline constexpr std::size_t kMostPairForms = 2 + kMaxPairLabels;

using PairKey = FixedText<kMaxPairKeyBytes>;

// The keys of the two sides. The views are parts of the key.
struct PairSides {
  std::string_view sender;
  std::string_view recipient;
};

constexpr bool is_pair_key(std::string_view key) noexcept {
  return key.find(kPairSeparator) != std::string_view::npos;
}

// `key` must be that of a pair.
constexpr PairSides sides_of_pair(std::string_view key) noexcept {
  const std::size_t at = key.find(kPairSeparator);
  return {key.substr(0, at), key.substr(at + 1)};
}

// `sender` and `recipient` must be keys, at most kMaxKeyBytes each.
inline PairKey pair_key(std::string_view sender, std::string_view recipient) noexcept {
  PairKey key;
  key.append(sender);
  key.append(kPairSeparator);
  key.append(recipient);
  return key;
}

// An entry as it stands in a list: "joe@example.org > ann@ours.example" of a pair, the key itself of any other. Throws
// std::bad_alloc.
std::string entry_text(std::string_view key);

// How many labels a canonical domain has; an address literal counts as one.
std::size_t label_count(std::string_view domain) noexcept;

// The keys of the entries that one side of a pair may be listed by: the key itself, and unless it is that of an entry
// for a whole domain, `@domain`; then `@.domain` for its domain and those above it. Each is a prefix and a part of the
// key, the most specific one first. `key` must outlive the object.
class PairForms {
 public:
  struct Form {
    std::string_view prefix;
    std::string_view rest;
  };

  explicit PairForms(std::string_view key) noexcept;

  const Form* begin() const noexcept { return forms_.data(); }
  const Form* end() const noexcept { return forms_.data() + count_; }

 private:
  void add(std::string_view prefix, std::string_view rest) noexcept { forms_[count_++] = {prefix, rest}; }

  std::array<Form, kMostPairForms> forms_;
  std::size_t count_ = 0;
};

// The key of the first pair, other than that of `sender` and `recipient` themselves, for which `contains(key)` holds;
// empty if there is none. Asks at most kMostPairForms^2 - 1 = 323 times.
template <typename Contains>
PairKey find_wider_pair(std::string_view sender, std::string_view recipient, Contains contains) noexcept {
  const PairForms senders(sender);
  const PairForms recipients(recipient);
  for (const PairForms::Form& from : senders) {
    for (const PairForms::Form& to : recipients) {
      if (&from == senders.begin() && &to == recipients.begin()) continue;
      PairKey key;
      key.append(from.prefix);
      key.append(from.rest);
      key.append(kPairSeparator);
      key.append(to.prefix);
      key.append(to.rest);
      if (contains(key.view())) return key;
    }
  }
  return {};
}

}  // namespace bloomgate
