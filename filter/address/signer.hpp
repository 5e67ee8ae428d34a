// Entries with a signer: `billing@bank.example signed-by esp.example` lists a sender whose mail another domain signs,
// such as a service that sends for it. The part before is the entry of an address, a domain or a mailing list. Shared
// by the builder and by everything that looks them up. Pure; safe from any thread.
//
// The key is the text of the entry in canonical form. No other key has a space after its last '@', nor after `list:`.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "filter/address/entry_forms.hpp"
#include "filter/address/limits.hpp"
#include "filter/base/fixed_text.hpp"

namespace bloomgate {

inline constexpr std::string_view kSignerSign = " signed-by ";
inline constexpr std::size_t kMaxSignerKeyBytes = kMaxKeyBytes + kSignerSign.size() + kMaxDomainBytes;

using SignerKey = FixedText<kMaxSignerKeyBytes>;

// No address, domain or host has a space after its last '@'.
constexpr bool is_signer_key(std::string_view key) noexcept {
  const std::size_t at = key.rfind(kSignerSign);
  return at != std::string_view::npos && key.find('@', at) == std::string_view::npos;
}

struct SignerSides {
  std::string_view entry;
  std::string_view signer;
};

// `key` must be that of an entry with a signer. The last sign counts: a quoted local part may have one, too.
constexpr SignerSides sides_of_signer_key(std::string_view key) noexcept {
  const std::size_t at = key.rfind(kSignerSign);
  return {key.substr(0, at), key.substr(at + kSignerSign.size())};
}

// The key of the first entry, with `signer`, that could list the address, domain or mailing list `key` and for which
// `contains(key)` holds; empty if there is none. Asks at most kMostEntryForms times. `signer` must be canonical.
template <typename Contains>
SignerKey find_with_signer(std::string_view key, std::string_view signer, Contains contains) noexcept {
  for (const EntryForms::Form& form : EntryForms(key)) {
    SignerKey with_signer;
    with_signer.append(form.prefix);
    with_signer.append(form.rest);
    with_signer.append(kSignerSign);
    with_signer.append(signer);
    if (contains(with_signer.view())) return with_signer;
  }
  return {};
}

}  // namespace bloomgate
