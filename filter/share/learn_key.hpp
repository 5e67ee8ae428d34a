// The key by which the hosts of one site hash what they have learned, before it leaves a host: SipHash-2-4 (Aumasson
// and Bernstein, 2012) with a key of 128 bits. Who reads the hashes and does not have the key can neither find out whom
// they mean nor whether a person whom he guesses is among them. He sees how many there are, and which come again.
//
// One look-up among 10^7 hashes finds a stranger by chance once in 1.8 * 10^12; nobody without the key can look for two
// texts with one hash.
//
// A value; safe from any thread. It leaves this object only into a file, and its memory is wiped.
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

  // A new one, from the system's random numbers. Throws BloomgateError{library_failed}.
  static LearnKey make();
  // For tests.
  explicit LearnKey(std::span<const std::uint8_t, kBytes> bytes) noexcept;
  // From a file that write_to() made. Throws as SecretKey::read_from().
  static LearnKey read_from(const std::string& path);

  LearnKey(const LearnKey&) noexcept = default;
  LearnKey& operator=(const LearnKey&) noexcept = default;
  ~LearnKey();

  // Into a new file that its owner alone may read, durably. Throws as SecretKey::write_to().
  void write_to(const std::string& path) const;

  // Both addresses are canonical.
  std::uint64_t hash_of_pair(std::string_view user, std::string_view correspondent) const noexcept;
  // Of a canonical domain.
  std::uint64_t hash_of_domain(std::string_view domain) const noexcept;
  // Of somebody who was forgotten: `person` is Forgets::hash_of().
  std::uint64_t hash_of_person(std::uint64_t person) const noexcept;
  // Tells one key from another.
  std::uint64_t check() const noexcept;

 private:
  std::uint64_t hash(std::string_view text) const noexcept;

  std::array<std::uint8_t, kBytes> bytes_ = {};
};

}  // namespace bloomgate
