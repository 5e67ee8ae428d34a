#include "filter/hash/murmur3.hpp"

#include <string>

#include "filter/base/little_endian.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

void append(std::string& bytes, HashPair pair) {
  std::byte stored[16];
  store_little_endian(stored, pair.first);
  store_little_endian(stored + 8, pair.second);
  bytes.append(reinterpret_cast<const char*>(stored), sizeof stored);
}

// SMHasher's verification: keys 0, 0 1, 0 1 2, … of 0 to 255 bytes with seeds from 256 down, and then their hashes.
TEST_CASE("MurmurHash3 has the verification value that its author published") {
  std::string key;
  std::string hashes;
  for (unsigned i = 0; i < 256; ++i) {
    append(hashes, murmur3_128(key, 256 - i));
    key += static_cast<char>(i);
  }
  CHECK((murmur3_128(hashes, 0).first & 0xffffffff) == 0x6384ba69);
}

TEST_CASE("every byte of a tail and every bit of the seed count") {
  const std::string key = "sixteen bytes..+fifteen bytes.";
  for (std::size_t i = 0; i < key.size(); ++i) {
    std::string other = key;
    other[i] = static_cast<char>(other[i] ^ 0x80);
    CHECK_FALSE(murmur3_128(other, 1) == murmur3_128(key, 1));
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    CHECK_FALSE(murmur3_128(key, std::uint64_t{1} << bit) == murmur3_128(key, 0));
  }
}

}  // namespace
}  // namespace bloomgate
