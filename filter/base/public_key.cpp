#include "filter/base/public_key.hpp"

#include <sodium.h>

#include <cstddef>

#include "filter/base/number_text.hpp"

namespace bloomgate {
namespace {

constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;

static_assert(PublicKey::kBytes == crypto_sign_PUBLICKEYBYTES);
static_assert(PublicKey::kTextCharacters + 1 == sodium_base64_ENCODED_LEN(PublicKey::kBytes, kVariant));
static_assert(kSecretKeyTextCharacters + 1 == sodium_base64_ENCODED_LEN(crypto_sign_SECRETKEYBYTES, kVariant));

}  // namespace

std::string base64_of(std::span<const std::uint8_t> bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), kVariant);
  text.pop_back();  // the final zero
  return text;
}

bool read_base64(std::string_view text, std::span<std::uint8_t> out) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  // libsodium 1.0.18 accepts some bytes above 127 as letters.
  if (text.find_first_not_of(kAlphabet) != std::string_view::npos) return false;
  std::size_t length = 0;
  return sodium_base642bin(out.data(), out.size(), text.data(), text.size(), nullptr, &length, nullptr, kVariant) ==
             0 &&
         length == out.size();
}

std::optional<PublicKey> PublicKey::parse(std::string_view text) {
  PublicKey key;
  if (!read_base64(text, key.bytes)) return std::nullopt;
  return key;
}

std::string PublicKey::text() const {
  return base64_of(bytes);
}

std::string public_key_fault(std::string_view text) {
  std::string fault =
      "expected a public key, the 44 characters that 'bloomgate sign --public-key FILE' prints, got something else";
  if (text.size() == PublicKey::kTextCharacters) {
    fault += " of that length";
  } else {
    fault += " of " + format_counted(text.size(), "character", "characters");
  }
  if (text.size() == kSecretKeyTextCharacters) {
    fault +=
        ", as long as a secret key: if it is one, anyone who has read it can sign; make another with 'bloomgate sign "
        "--new-key FILE'";
  }
  return fault;
}

}  // namespace bloomgate
