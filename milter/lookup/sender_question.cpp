#include "milter/lookup/sender_question.hpp"

namespace bloomgate {

std::string_view standing_name(SenderStanding standing) noexcept {
  switch (standing) {
    case SenderStanding::neither:
      break;
    case SenderStanding::listed:
      return "listed";
    case SenderStanding::revoked:
      return "revoked";
  }
  return {};
}

SenderQuestion sender_question(std::string_view key) noexcept {
  constexpr std::string_view kSign = " > ";
  const std::size_t sign = key.rfind(kSign);
  if (sign == std::string_view::npos) return {.sender = key};
  return {.sender = key.substr(0, sign), .recipient = key.substr(sign + kSign.size())};
}

}  // namespace bloomgate
