// Whether text from a sender could appear in a trusted Authentication-Results field as a result that no milter found.
//
// The milters that write these fields copy text from the sender into them, and not all of them escape that text. So a
// greeting `x); dkim=pass header.d=bank.example (` closes the comment in which an SPF milter puts it, and a DKIM milter
// decodes a signature with `i==3B=20dkim=3Dpass…` and writes it without escaping. The resulting field is well-formed
// and looks genuine. Only the copied text reveals the forgery.
//
// The daemon calls these functions for each message. If one of them returns true, none of the message's results counts:
// Authentication::is_distrusted(). Honest mail never causes this. Pure, noexcept, linear, safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "filter/address/characters.hpp"
#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"
#include "milter/fields/header_from.hpp"

namespace bloomgate {

// The name in the HELO or EHLO command. A host name, an address literal, or any odd word without quotes, backslashes,
// parentheses, semicolons and space is harmless.
bool helo_can_forge_results(std::string_view helo) noexcept;

// The path of the MAIL command. A local part is harmless if it needs no quotes, or if its quotes contain only spaces
// and characters that need no quotes.
bool sender_can_forge_results(std::string_view path) noexcept;

// The value of a DKIM-Signature field, folded or not: its identity (i=), decoded, domain (d=) and selector (s=). The
// harmless characters are those of an address without quotes.
bool signature_can_forge_results(std::string_view dkim_signature) noexcept;

// Calls visit(name, value) for each tag of a DKIM-Signature field whose name is a single letter, in lower case; the
// value without the space around it. The tags end at each `;`, as in all readers (RFC 6376 section 3.2).
template <typename Visitor>
void for_each_signature_tag(std::string_view dkim_signature, Visitor visit) {
  while (!dkim_signature.empty()) {
    const std::size_t end = std::min(dkim_signature.find(';'), dkim_signature.size());
    const std::string_view tag = dkim_signature.substr(0, end);
    const std::size_t equals = std::min(tag.find('='), tag.size());
    const std::string_view name = without_folding_space(tag.substr(0, equals));
    const std::string_view value = tag.substr(std::min(equals + 1, tag.size()));
    if (name.size() == 1) visit(ascii::to_lower(name[0]), without_folding_space(value));
    dkim_signature.remove_prefix(std::min(end + 1, dkim_signature.size()));
  }
}

// A From field that we cannot read: another program may find any domain in it, and copy it.
bool from_can_forge_results(const HeaderFrom& from) noexcept;

}  // namespace bloomgate
