#include "filter/share/learn_key.hpp"

#include <sodium.h>

#include <algorithm>
#include <bit>

#include "filter/address/pair.hpp"
#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/base/public_key.hpp"
#include "filter/file/secret_file.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kComment =
    "# Key of what is learned: with it, shared files say whether a guessed user has written to a guessed person.\n";

// Neither an address nor a domain begins with a NUL.
constexpr char kPerson = '\0';
constexpr std::string_view kCheck("\0\0", 2);

}  // namespace

LearnKey LearnKey::make() {
  require_random_numbers();
  std::array<std::uint8_t, kBytes> bytes;
  randombytes_buf(bytes.data(), bytes.size());
  const LearnKey key(bytes);
  sodium_memzero(bytes.data(), bytes.size());
  return key;
}

LearnKey::LearnKey(std::span<const std::uint8_t, kBytes> bytes) noexcept {
  static_assert(kBytes == crypto_shorthash_KEYBYTES);
  std::ranges::copy(bytes, bytes_.begin());
}

LearnKey LearnKey::read_from(const std::string& path) {
  const SecretFile file(path, "a key of what is learned");
  std::array<std::uint8_t, kBytes> bytes = {};
  const bool is_key = read_base64(file.line(), bytes);
  const LearnKey key(bytes);
  sodium_memzero(bytes.data(), bytes.size());
  if (!is_key) {
    throw BloomgateError(
        ErrorCode::bad_input,
        path + " is not the file of a key of what is learned, as 'bloomgate share --new-learn-key FILE' makes it",
        {.path = path});
  }
  file.require_private();
  return key;
}

LearnKey::~LearnKey() {
  sodium_memzero(bytes_.data(), bytes_.size());
}

void LearnKey::write_to(const std::string& path) const {
  write_secret_file(path, kComment, bytes_);
}

std::uint64_t LearnKey::hash(std::string_view text) const noexcept {
  std::array<std::byte, crypto_shorthash_BYTES> out;
  crypto_shorthash(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                   text.size(), bytes_.data());
  return load_little_endian<std::uint64_t>(out.data());
}

std::uint64_t LearnKey::hash_of_pair(std::string_view user, std::string_view correspondent) const noexcept {
  return hash(pair_key(correspondent, user).view());
}

std::uint64_t LearnKey::hash_of_domain(std::string_view domain) const noexcept {
  return hash(domain);
}

std::uint64_t LearnKey::hash_of_person(std::uint64_t person) const noexcept {
  std::array<char, 1 + sizeof person> text = {kPerson};
  store_little_endian(reinterpret_cast<std::byte*>(text.data() + 1), person);
  return hash({text.data(), text.size()});
}

std::uint64_t LearnKey::check() const noexcept {
  return hash(kCheck);
}

}  // namespace bloomgate
