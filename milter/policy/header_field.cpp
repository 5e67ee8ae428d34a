#include "milter/policy/header_field.hpp"

#include <algorithm>

namespace bloomgate {
namespace {

// Of ASCII only, whatever the locale.
char lower(char character) noexcept {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
}

}  // namespace

bool is_header(std::string_view name, std::string_view wanted) noexcept {
  name = name.substr(0, name.find_last_not_of(" \t") + 1);
  return std::ranges::equal(name, wanted, {}, lower, lower);
}

bool is_our_header(std::string_view name) noexcept {
  return is_header(name, kHeaderName);
}

std::string header_value(const Decision& decision, std::string_view host) {
  std::string value(verdict_name(decision.verdict));
  value.append("; reason=").append(reason_name(decision.reason));
  value.append("; host=").append(host);
  if (decision.identity == IdentityKind::none) return value;
  value.append("; identity=").append(identity_kind_name(decision.identity));
  const std::string_view list = decision.list.view();
  if (decision.method || !list.empty()) value.append("; authentication=").append(method_name(decision.method));
  if (!list.empty()) value.append("; whitelist=").append(list);
  return value;
}

}  // namespace bloomgate
