// The public half of an Ed25519 key (RFC 8032), by which a daemon or a person knows who has signed a filter, and its
// text: standard base64 (RFC 4648) with its padding, 44 characters. Pure; safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

struct PublicKey {
  static constexpr std::size_t kBytes = 32;
  static constexpr std::size_t kTextCharacters = 44;

  std::array<std::uint8_t, kBytes> bytes = {};

  // Nothing for any text that text() does not return.
  static std::optional<PublicKey> parse(std::string_view text);
  std::string text() const;

  friend bool operator==(const PublicKey&, const PublicKey&) = default;
};

using TrustedKeys = std::vector<PublicKey>;

// Why PublicKey::parse() has refused `text`, with what was expected. The result never repeats the text, which may be a
// secret key that a user has put into the wrong place; if the text is as long as a secret key, the result says so.
std::string public_key_fault(std::string_view text);

// Standard base64 with its padding.
std::string base64_of(std::span<const std::uint8_t> bytes);
// Fills `out` from the one text that base64_of() makes of it. Returns false for every other text; `out` may then have
// changed.
bool read_base64(std::string_view text, std::span<std::uint8_t> out);

// The length of the text of a secret key (filter/file/secret_key.hpp).
inline constexpr std::size_t kSecretKeyTextCharacters = 88;

}  // namespace bloomgate
