#include "filter/address/domain.hpp"

#include <arpa/inet.h>
#include <idn2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "filter/address/characters.hpp"
#include "filter/address/identifier.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

RejectReason check_label(std::string_view label) noexcept {
  if (label.empty()) return RejectReason::empty_label;
  if (!std::all_of(label.begin(), label.end(), characters::is_domain_character)) {
    return RejectReason::bad_domain_character;
  }
  return label.size() > kMaxLabelBytes ? RejectReason::label_too_long : RejectReason::none;
}

// An xn-- label is copied as it is, also if it is not valid IDNA: the name in the DNS is exactly those bytes.
RejectReason canonicalize_ascii(std::string_view name, Domain& out) noexcept {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty()) return RejectReason::empty_domain;
  for (std::size_t start = 0; start <= name.size();) {
    const std::string_view label = name.substr(start, name.find('.', start) - start);
    if (const RejectReason reason = check_label(label); reason != RejectReason::none) return reason;
    start += label.size() + 1;
  }
  for (const char byte : name) out.append(ascii::to_lower(byte));
  return out.overflowed() ? RejectReason::domain_too_long : RejectReason::none;
}

RejectReason reason_of(int idn2_error) noexcept {
  switch (idn2_error) {
    case IDN2_OK:
      return RejectReason::none;
    case IDN2_MALLOC:
      return RejectReason::out_of_memory;
    case IDN2_TOO_BIG_DOMAIN:  // one label is all that it is given
    case IDN2_TOO_BIG_LABEL:
    case IDN2_PUNYCODE_BIG_OUTPUT:
      return RejectReason::label_too_long;
    default:
      return RejectReason::invalid_idn;
  }
}

// A host name while it is mapped to ASCII: one byte longer, for a dot at its end.
using MappedName = FixedText<kMaxDomainBytes + 1>;

// The length of one label. libidn2 returns no longer ones, except labels with dots that it has mapped to '.'.
constexpr std::size_t kMaxMappedBytes = kMaxDomainBytes + 1;

RejectReason map_label_anew(std::string_view label, FixedText<kMaxMappedBytes>& mapped) noexcept {
  std::array<std::uint8_t, kMaxInputBytes + 1> terminated;
  *std::copy(label.begin(), label.end(), terminated.begin()) = 0;
  std::uint8_t* found = nullptr;
  const int error = idn2_lookup_u8(terminated.data(), &found, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
  const std::unique_ptr<std::uint8_t, decltype(&idn2_free)> owned(found, idn2_free);
  if (error == IDN2_OK) mapped.append(reinterpret_cast<const char*>(found));
  return reason_of(error);
}

// Mapping takes more than a microsecond, and the labels of a list repeat. So each thread keeps what it has mapped
// recently.
struct RecentLabel {
  FixedText<kMaxLabelBytes> label;
  FixedText<kMaxMappedBytes> mapped;
};
thread_local std::array<RecentLabel, 64> recent_labels;

RejectReason map_label(std::string_view label, MappedName& out) noexcept {
  RecentLabel& recent = recent_labels[std::hash<std::string_view>()(label) % recent_labels.size()];
  if (recent.label.view() == label) {
    out.append(recent.mapped.view());
    return RejectReason::none;
  }
  FixedText<kMaxMappedBytes> mapped;
  const RejectReason reason = map_label_anew(label, mapped);
  if (reason != RejectReason::none) return reason;
  if (mapped.overflowed()) return RejectReason::domain_too_long;
  out.append(mapped.view());
  if (label.size() <= kMaxLabelBytes) {
    recent = {};
    recent.label.append(label);
    recent.mapped = mapped;
  }
  return RejectReason::none;
}

// The length of the dot at the front of `text`; it may be one that UTS #46 maps to '.'. 0 if there is none.
std::size_t dot_bytes(std::string_view text) noexcept {
  if (text.starts_with('.')) return 1;
  const bool wide = text.starts_with("\u3002") || text.starts_with("\uff0e") || text.starts_with("\uff61");
  return wide ? 3 : 0;
}

// Maps label by label, so that an ASCII label gives the same bytes whatever its neighbours: `r3---x.müller.example` is
// a name, although IDNA does not allow its first label. The caller must still check the result, since mapping turns
// some characters into '/' or '@'.
RejectReason map_to_ascii(std::string_view name, MappedName& out) noexcept {
  while (!out.overflowed()) {
    std::size_t size = 0;
    while (size < name.size() && dot_bytes(name.substr(size)) == 0) ++size;
    const std::string_view label = name.substr(0, size);
    if (ascii::is_ascii(label)) {
      out.append(label);
    } else if (const RejectReason reason = map_label(label, out); reason != RejectReason::none) {
      return reason;
    }
    if (size == name.size()) break;
    out.append('.');
    name.remove_prefix(size + dot_bytes(name.substr(size)));
  }
  return out.overflowed() ? RejectReason::domain_too_long : RejectReason::none;
}

constexpr std::string_view kIpv6Tag = "ipv6:";

RejectReason canonicalize_address_literal(std::string_view text, Domain& out) noexcept {
  if (const RejectReason reason = characters::check(text); reason != RejectReason::none) return reason;
  if (!text.ends_with(']')) return RejectReason::bad_address_literal;
  std::string_view content = text.substr(1, text.size() - 2);
  const bool tagged = ascii::equal_ignoring_case(content.substr(0, kIpv6Tag.size()), kIpv6Tag);
  if (tagged) content.remove_prefix(kIpv6Tag.size());

  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (content.size() >= terminated.size()) return RejectReason::bad_address_literal;
  std::copy(content.begin(), content.end(), terminated.begin());
  const int family = tagged ? AF_INET6 : AF_INET;
  in6_addr address{};
  if (inet_pton(family, terminated.data(), &address) != 1) return RejectReason::bad_address_literal;
  inet_ntop(family, &address, terminated.data(), terminated.size());

  out.append('[');
  if (tagged) out.append(kIpv6Tag);
  out.append(std::string_view(terminated.data()));
  out.append(']');
  return RejectReason::none;
}

// Removes one of the two wildcard signs, followed by `after`, from the front of `text`. Returns whether it is there.
bool take_sign(std::string_view& text, char after) noexcept {
  const bool is_there = text.size() > 1 && is_wildcard(text.substr(0, 1)) && text[1] == after;
  if (is_there) text.remove_prefix(2);
  return is_there;
}

}  // namespace

RejectReason canonicalize_host_name(std::string_view text, Domain& out) noexcept {
  if (text.size() > kMaxInputBytes) return RejectReason::too_long;  // map_label_anew() has room for no more
  if (const RejectReason reason = characters::check(text); reason != RejectReason::none) return reason;
  if (ascii::is_ascii(text)) return canonicalize_ascii(text, out);
  if (const RejectReason reason = identifier::check_host_name(text); reason != RejectReason::none) return reason;
  MappedName mapped;
  if (const RejectReason reason = map_to_ascii(text, mapped); reason != RejectReason::none) return reason;
  return canonicalize_ascii(mapped.view(), out);
}

RejectReason canonicalize_domain(std::string_view text, Domain& out) noexcept {
  return text.starts_with('[') ? canonicalize_address_literal(text, out) : canonicalize_host_name(text, out);
}

Wildcard read_wildcard(std::string_view word) noexcept {
  if (word.starts_with('<') && word.ends_with('>')) word = word.substr(1, word.size() - 2);
  const bool has_local_part = take_sign(word, '@');
  if (!has_local_part && word.starts_with('@')) word.remove_prefix(1);
  const bool has_label = take_sign(word, '.');
  if (!has_local_part && !has_label) return {};
  const bool is_tree = has_label || word.starts_with('.');
  if (is_tree && !has_label) word.remove_prefix(1);
  Wildcard found;
  const RejectReason reason =
      is_tree ? canonicalize_host_name(word, found.domain) : canonicalize_domain(word, found.domain);
  if (reason == RejectReason::none) found.prefix = is_tree ? "@." : "@";
  return found;
}

}  // namespace bloomgate
