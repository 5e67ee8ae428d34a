#include "filter/file/secret_key.hpp"

#include <sodium.h>

#include <algorithm>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/file/secret_file.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kComment =
    "# Secret key of 'bloomgate sign': anyone who has it can sign filters in your name.\n";

BloomgateError no_key(const std::string& path, std::string_view line) {
  std::string what = path + " is not the file of a secret key, as 'bloomgate sign --new-key FILE' makes it";
  if (PublicKey::parse(line)) what += "; it has a public key in it, with which nothing can be signed";
  return {ErrorCode::bad_input, what, {.path = path}};
}

}  // namespace

SecretKey SecretKey::make() {
  require_random_numbers();
  SecretKey key;
  PublicKey ignored;
  crypto_sign_keypair(ignored.bytes.data(), key.bytes_.data());
  return key;
}

SecretKey SecretKey::from_seed(std::span<const std::uint8_t, 32> seed) {
  static_assert(crypto_sign_SEEDBYTES == 32);
  SecretKey key;
  PublicKey ignored;
  crypto_sign_seed_keypair(ignored.bytes.data(), key.bytes_.data(), seed.data());
  return key;
}

SecretKey SecretKey::read_from(const std::string& path) {
  const SecretFile file(path, "a secret key");
  SecretKey key;
  if (!read_base64(file.line(), key.bytes_)) throw no_key(path, file.line());
  // With another public half, each signature would reveal some of the secret half.
  const SecretKey made = from_seed(std::span(key.bytes_).first<32>());
  if (sodium_memcmp(made.bytes_.data(), key.bytes_.data(), key.bytes_.size()) != 0) throw no_key(path, {});
  file.require_private();
  return key;
}

SecretKey::~SecretKey() {
  sodium_memzero(bytes_.data(), bytes_.size());
}

void SecretKey::write_to(const std::string& path) const {
  write_secret_file(path, kComment, bytes_);
}

PublicKey SecretKey::public_key() const noexcept {
  PublicKey key;
  std::copy(bytes_.end() - PublicKey::kBytes, bytes_.end(), key.bytes.begin());
  return key;
}

SignatureBytes SecretKey::sign(std::span<const std::byte> text) const noexcept {
  static_assert(kSignatureBytes == crypto_sign_BYTES);
  SignatureBytes signature;
  crypto_sign_detached(signature.data(), nullptr, reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                       bytes_.data());
  return signature;
}

}  // namespace bloomgate
