// The secret half of an Ed25519 key, with which `bloomgate sign` proves who made a filter, and the file that holds it.
// The holder of the key can sign. So the key leaves this object only into such a file, and its memory is wiped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "filter/base/public_key.hpp"

namespace bloomgate {

inline constexpr std::size_t kSignatureBytes = 64;
using SignatureBytes = std::array<std::uint8_t, kSignatureBytes>;

class SecretKey {
 public:
  // A new key, from the system's random numbers. Throws BloomgateError{library_failed}.
  static SecretKey make();
  // The key that belongs to these 32 bytes (RFC 8032 calls them the private key): for tests.
  static SecretKey from_seed(std::span<const std::uint8_t, 32> seed);
  // From a file that write_to() made. Throws BloomgateError{cannot_open, cannot_read, not_a_regular_file},
  // {not_permitted} if other users may read it, and {bad_input} for any other content, of which the message shows
  // nothing.
  static SecretKey read_from(const std::string& path);

  SecretKey(const SecretKey&) noexcept = default;
  SecretKey& operator=(const SecretKey&) = delete;
  ~SecretKey();

  // Writes a new file durably, readable for its owner alone. Throws BloomgateError{cannot_write}, also if `path`
  // exists: a key that is overwritten is lost.
  void write_to(const std::string& path) const;

  PublicKey public_key() const noexcept;

  // RFC 8032, "Ed25519": the same text has the same signature.
  SignatureBytes sign(std::span<const std::byte> text) const noexcept;

 private:
  SecretKey() = default;
  std::array<std::uint8_t, 64> bytes_ = {};  // seed and public half, in the order of libsodium
};

}  // namespace bloomgate
