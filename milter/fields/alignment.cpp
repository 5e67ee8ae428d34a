#include "milter/fields/alignment.hpp"

#include <libpsl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "filter/address/address.hpp"

namespace bloomgate {

namespace {

// Never freed: look-ups continue until the program ends.
const psl_ctx_t* public_suffixes() noexcept {
  static const psl_ctx_t* const list = [] {
    const psl_ctx_t* const latest = psl_latest(nullptr);
    return latest != nullptr ? latest : psl_builtin();
  }();
  return list;
}

}  // namespace

bool is_same_or_below(std::string_view domain, std::string_view parent) noexcept {
  if (!domain.ends_with(parent)) return false;
  return domain.size() == parent.size() || domain[domain.size() - parent.size() - 1] == '.';
}

bool is_child(std::string_view domain, std::string_view parent) noexcept {
  return domain != parent && !parent.empty() && is_same_or_below(domain, parent) &&
         aligned(domain, parent, Alignment::relaxed);
}

std::string_view organizational_domain(std::string_view domain) noexcept {
  if (domain.size() > kMaxDomainBytes || domain.starts_with('[')) return {};
  std::array<char, kMaxDomainBytes + 1> terminated;
  *std::copy(domain.begin(), domain.end(), terminated.begin()) = '\0';
  const char* found = psl_registrable_domain(public_suffixes(), terminated.data());
  return found == nullptr ? std::string_view{} : domain.substr(static_cast<std::size_t>(found - terminated.data()));
}

bool aligned(std::string_view one, std::string_view other, Alignment alignment) noexcept {
  if (one.empty() || other.empty()) return false;
  if (one == other) return true;
  if (alignment == Alignment::parent) {
    const std::string_view organization = organizational_domain(other);
    return !organization.empty() && is_same_or_below(other, one) && is_same_or_below(one, organization);
  }
  if (alignment != Alignment::relaxed) return false;
  // If one domain is in the other, the longer one has the public suffix of the shorter one, or a longer suffix.
  if (is_same_or_below(one, other)) std::swap(one, other);
  const std::string_view organization = organizational_domain(other);
  if (organization.empty()) return false;
  if (is_same_or_below(other, one)) return is_same_or_below(one, organization);
  return organization == organizational_domain(one);
}

}  // namespace bloomgate
