#include "milter/fields/signature_name.hpp"

#include "filter/address/domain.hpp"
#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {

std::string canonical_selector(std::string_view text) {
  Domain selector;
  if (!ascii::is_ascii(text) || canonicalize_host_name(text, selector) != RejectReason::none) return {};
  return std::string(selector.view());
}

std::string signature_start(std::string_view text) {
  std::string start;
  if (text.empty()) return start;
  start.reserve(SignatureName::kMaxStartBytes);
  for (const char byte : text) {
    if (is_folding_space(byte)) continue;
    if (!is_base64_letter(byte)) return {};
    start.push_back(byte);
    if (start.size() == SignatureName::kMaxStartBytes) break;
  }
  return start.size() < SignatureName::kMinStartBytes ? std::string() : start;
}

bool can_mean(const SignatureName& named, const SignatureName& signature) noexcept {
  const bool has_other_selector =
      !named.selector.empty() && !signature.selector.empty() && named.selector != signature.selector;
  const bool has_other_start =
      !named.start.empty() && !signature.start.empty() && !signature.start.starts_with(named.start);
  return !has_other_selector && !has_other_start;
}

}  // namespace bloomgate
