// The token with which a program shows over TCP that it may have whole messages decided: a line of a file that both
// programs read (RFC 6750 section 2.1). Safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate {

class BearerToken {
 public:
  static constexpr std::size_t kLeastBytes = 20;
  static constexpr std::size_t kMostBytes = 500;

  // Reads the token from the file: comments, and one line of letters, digits and `-._~+/=`. Throws
  // BloomgateError{bad_input} if there is no such line, {not_permitted} if every user of the machine may read the file,
  // and what SecretFile throws.
  static BearerToken read_from(const std::string& path);

  // Whether the value of an Authorization field contains the token. Takes the same time whatever part of it is right.
  bool is_shown_by(std::string_view authorization) const noexcept;

 private:
  explicit BearerToken(std::string_view text) : text_(text) {}

  std::string text_;
};

}  // namespace bloomgate
