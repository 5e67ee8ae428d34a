// The signature of a filter file: FORMAT.md, "Signature". Used by the writer, by MappedFilter and by header_fields;
// pure functions over bytes, safe from any thread.
//
// It is made in two steps. The content of a file is one BLAKE2b digest of the digests of all MiBs after the header,
// which are computed in parallel. It is not made of the table of checksums, as an attacker can find another file with
// the same XXH3 values. The header, with that digest in it, is signed by Ed25519.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "filter/base/public_key.hpp"
#include "filter/file/file_format.hpp"
#include "filter/file/secret_key.hpp"

namespace bloomgate {

// The size of the pieces that the content digest is made of. There is at least one piece.
inline constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

constexpr std::uint64_t piece_count(std::uint64_t file_bytes) noexcept {
  return (file_bytes - kHeaderBytes + kPieceBytes - 1) / kPieceBytes;
}

// The position of piece `index` in a file of that size.
struct PiecePlace {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
constexpr PiecePlace place_of_piece(std::uint64_t index, std::uint64_t file_bytes) noexcept {
  const std::uint64_t offset = kHeaderBytes + index * kPieceBytes;
  return {offset, file_bytes - offset < kPieceBytes ? file_bytes - offset : kPieceBytes};
}

// The digest of some bytes. One processor computes some 1 GB a second.
Digest digest_of(std::span<const std::byte> bytes) noexcept;
// The digest of the first `bytes` bytes of an open file. Throws BloomgateError{cannot_read} with the path.
Digest digest_of_file(int file, std::uint64_t bytes, const std::string& path);
// The digest of the digests of all pieces, in their order.
Digest content_of(const std::vector<Digest>& pieces) noexcept;

// Whether the header's signature of this header is by the signer that the header names. It does not cover the content.
bool is_signed(std::span<const std::byte, kHeaderBytes> header) noexcept;

// Whether `signature` is that of `text` by `signer`. For the same text and signer, no other 64 bytes are accepted.
bool is_signature_of(const SignatureBytes& signature, std::span<const std::byte> text,
                     const PublicKey& signer) noexcept;

// Puts signer, content and signature into an encoded header, in place of what is there, and updates its checksum.
void sign_header(std::span<std::byte, kHeaderBytes> header, const Digest& content, const SecretKey& key) noexcept;

}  // namespace bloomgate
