// The token by which a program shows over TCP that it may have whole messages decided: a line of a file that both read
// (RFC 6750 section 2.1). Safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate {

class BearerToken {
 public:
  static constexpr std::size_t kLeastBytes = 20;
  static constexpr std::size_t kMostBytes = 500;

  // Of the file: comments, and one line of letters, digits and `-._~+/=`. Throws BloomgateError{bad_input} where there
  // is no such line, {not_permitted} where everybody on the machine may read it, and what SecretFile throws.
  static BearerToken read_from(const std::string& path);

  // Whether the value of a field Authorization shows it. In a time that does not depend on how much of it is right.
  bool is_shown_by(std::string_view authorization) const noexcept;

 private:
  explicit BearerToken(std::string_view text) : text_(text) {}

  std::string text_;
};

}  // namespace bloomgate
