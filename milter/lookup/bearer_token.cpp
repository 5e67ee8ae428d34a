#include "milter/lookup/bearer_token.hpp"

#include <algorithm>

#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/file/secret_file.hpp"

namespace bloomgate {
namespace {

bool is_token(std::string_view text) noexcept {
  constexpr std::string_view kOthers = "-._~+/=";
  return text.size() >= BearerToken::kLeastBytes && text.size() <= BearerToken::kMostBytes &&
         std::ranges::all_of(text, [&](char byte) {
           return ascii::is_letter(byte) || ascii::is_digit(byte) || kOthers.find(byte) != std::string_view::npos;
         });
}

}  // namespace

BearerToken BearerToken::read_from(const std::string& path) {
  const SecretFile file(path, "a token");
  if (!is_token(file.line())) {
    throw BloomgateError(ErrorCode::bad_input,
                         path + " has no token: expected one line of " + std::to_string(kLeastBytes) + " to " +
                             std::to_string(kMostBytes) +
                             " letters, digits and -._~+/=, as 'openssl rand -base64 24' makes it",
                         {.path = path});
  }
  file.require_private();
  return BearerToken(file.line());
}

bool BearerToken::is_shown_by(std::string_view authorization) const noexcept {
  constexpr std::string_view kScheme = "Bearer ";
  if (!ascii::equal_ignoring_case(authorization.substr(0, kScheme.size()), kScheme)) return false;
  return are_equal_secrets(ascii::trimmed(authorization.substr(kScheme.size()), " "), text_);
}

}  // namespace bloomgate
