// The key with which the hosts of one site hash what they have learned, before it leaves a host: SipHash-2-4 (Aumasson
// and Bernstein, 2012) with a key of 128 bits. A reader of the hashes who does not have the key cannot find out which
// people they mean, nor whether a guessed person is among them. Such a reader sees how many hashes there are, and which
// of them repeat.
//
// A look-up among 10^7 hashes finds an unknown pair by chance once in 1.8 * 10^12 times. Without the key, an attacker
// cannot search for two texts with one hash.
//
// A value; safe from any thread. The key leaves this object only into a file, and its memory is wiped.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bloomgate {

class LearnKey {
 public:
  static constexpr std::size_t kBytes = 16;

  // A new key, from the system's random numbers. Throws BloomgateError{library_failed}.
  static LearnKey make();
  // For tests.
  explicit LearnKey(std::span<const std::uint8_t, kBytes> bytes) noexcept;
  // From a file that write_to() made. Throws as SecretKey::read_from().
  static LearnKey read_from(const std::string& path);

  LearnKey(const LearnKey&) noexcept = default;
  LearnKey& operator=(const LearnKey&) noexcept = default;
  ~LearnKey();

  // Writes a new file durably, readable for its owner alone. Throws as SecretKey::write_to().
  void write_to(const std::string& path) const;

  // Both addresses must be canonical.
  std::uint64_t hash_of_pair(std::string_view user, std::string_view correspondent) const noexcept;
  // `domain` must be canonical.
  std::uint64_t hash_of_domain(std::string_view domain) const noexcept;
  // The hash of a person who was forgotten: `person` is Forgets::hash_of().
  std::uint64_t hash_of_person(std::uint64_t person) const noexcept;
  // A number that distinguishes one key from another.
  std::uint64_t check() const noexcept;

 private:
  std::uint64_t hash(std::string_view text) const noexcept;

  std::array<std::uint8_t, kBytes> bytes_ = {};
};

}  // namespace bloomgate
