#include "filter/file/signature.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

// Distinguishes these signatures from all other signatures of the same key.
constexpr std::string_view kPurpose = "bloomgate filter signature 1\n";

using SignedText = std::array<std::byte, kPurpose.size() + kHeaderBytes>;

// The signed text: all of the header but the two fields that depend on it.
SignedText signed_text(ConstHeaderBytes header) noexcept {
  SignedText text;
  std::memcpy(text.data(), kPurpose.data(), kPurpose.size());
  const std::span<std::byte, kHeaderBytes> copy = std::span(text).last<kHeaderBytes>();
  std::ranges::copy(header, copy.begin());
  std::ranges::fill(copy.subspan<kSignatureField.offset, kSignatureBytes>(), std::byte{0});
  std::ranges::fill(copy.subspan<kHeaderChecksumField.offset>(), std::byte{0});
  return text;
}

const unsigned char* raw(std::span<const std::byte> bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

Digest digest_of(std::span<const std::byte> bytes) noexcept {
  // Chooses the fastest code for this processor, once.
  [[maybe_unused]] static const int initialised = sodium_init();
  Digest digest;
  static_assert(std::tuple_size_v<Digest> == crypto_generichash_BYTES);
  crypto_generichash(digest.data(), digest.size(), raw(bytes), bytes.size(), nullptr, 0);
  return digest;
}

Digest digest_of_file(int file, std::uint64_t bytes, const std::string& path) {
  crypto_generichash_state state;
  Digest digest;
  crypto_generichash_init(&state, nullptr, 0, digest.size());
  std::array<std::byte, std::size_t{1} << 16> piece;
  for (std::uint64_t done = 0; done < bytes; done += piece.size()) {
    const std::span<std::byte> read = std::span(piece).first(std::min<std::uint64_t>(piece.size(), bytes - done));
    if (const int error = read_at(file, read, done); error != 0) {
      throw system_error(ErrorCode::cannot_read, "read", path, error);
    }
    crypto_generichash_update(&state, raw(read), read.size());
  }
  crypto_generichash_final(&state, digest.data(), digest.size());
  return digest;
}

Digest content_of(const std::vector<Digest>& pieces) noexcept {
  return digest_of(std::as_bytes(std::span(pieces)));
}

bool is_signed(ConstHeaderBytes header) noexcept {
  SignatureBytes signature;
  PublicKey signer;
  std::memcpy(signature.data(), header.data() + kSignatureField.offset, signature.size());
  std::memcpy(signer.bytes.data(), header.data() + kSignerField.offset, signer.bytes.size());
  return is_signature_of(signature, signed_text(header), signer);
}

bool is_signature_of(const SignatureBytes& signature, std::span<const std::byte> text,
                     const PublicKey& signer) noexcept {
  return crypto_sign_verify_detached(signature.data(), raw(text), text.size(), signer.bytes.data()) == 0;
}

void sign_header(HeaderBytes header, const Digest& content, const SecretKey& key) noexcept {
  const PublicKey signer = key.public_key();
  std::memcpy(header.data() + kSignerField.offset, signer.bytes.data(), signer.bytes.size());
  std::memcpy(header.data() + kContentField.offset, content.data(), content.size());
  const SignatureBytes signature = key.sign(signed_text(header));
  std::memcpy(header.data() + kSignatureField.offset, signature.data(), signature.size());
  put_checksum(header);
}

}  // namespace bloomgate
