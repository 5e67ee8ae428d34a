#include "filter/hash.hpp"

#include <sys/random.h>
// Compiled in, not called: a key is hashed in fewer cycles than a call through the linkage table takes.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>

#include "filter/error.hpp"

namespace bloomgate {

KeyHash hash_key(std::string_view key, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(key.data(), key.size(), seed);
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  // Requests of up to 256 bytes are never short (getrandom(2)).
  if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
    throw system_error(ErrorCode::cannot_read, "draw a random seed from", "getrandom(2)", errno);
  }
  return seed;
}

}  // namespace bloomgate
