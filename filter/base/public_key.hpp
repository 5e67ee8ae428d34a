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

  // Nothing for anything but what text() returns.
  static std::optional<PublicKey> parse(std::string_view text);
  std::string text() const;

  friend bool operator==(const PublicKey&, const PublicKey&) = default;
};

using TrustedKeys = std::vector<PublicKey>;

// Why PublicKey::parse() has refused `text`, with what was expected. It never repeats the text, which may be a secret
// key that somebody has put into the wrong place; where its length is that of one, it says so.
std::string public_key_fault(std::string_view text);

// Standard base64 with its padding.
std::string base64_of(std::span<const std::uint8_t> bytes);
// Fills `out` from the one text that base64_of() makes of it. False for every other text; `out` may be changed then.
bool read_base64(std::string_view text, std::span<std::uint8_t> out);

// Of the text of a secret key (filter/file/secret_key.hpp).
inline constexpr std::size_t kSecretKeyTextCharacters = 88;

}  // namespace bloomgate
