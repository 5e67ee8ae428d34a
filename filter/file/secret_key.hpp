// The secret half of an Ed25519 key, by which `bloomgate sign` says that a filter is its owner's, and the file that it
// is kept in. Whoever has it can sign: it leaves this object only into such a file, and its memory is wiped.
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
  // A new one, from the system's random numbers. Throws BloomgateError{library_failed}.
  static SecretKey make();
  // The one that belongs to these 32 bytes (RFC 8032 calls them the private key): for tests.
  static SecretKey from_seed(std::span<const std::uint8_t, 32> seed);
  // From a file that write_to() made. Throws BloomgateError{cannot_open, cannot_read, not_a_regular_file},
  // {not_permitted} where others may read it, and {bad_input} for anything else in it, of which the message shows
  // nothing.
  static SecretKey read_from(const std::string& path);

  SecretKey(const SecretKey&) noexcept = default;
  SecretKey& operator=(const SecretKey&) = delete;
  ~SecretKey();

  // Into a new file that its owner alone may read, durably. Throws BloomgateError{cannot_write}, also where there is
  // something at `path`: a key that is overwritten is lost.
  void write_to(const std::string& path) const;

  PublicKey public_key() const noexcept;

  // RFC 8032, "Ed25519": the same text has the same signature.
  SignatureBytes sign(std::span<const std::byte> text) const noexcept;

 private:
  SecretKey() = default;
  std::array<std::uint8_t, 64> bytes_ = {};  // seed and public half, as libsodium has them
};

}  // namespace bloomgate
