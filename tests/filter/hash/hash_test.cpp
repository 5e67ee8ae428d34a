#include "filter/hash/hash.hpp"

#include <array>
#include <set>
#include <string>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// These values are part of the file format: a library that gives others would silently lose every entry of every
// filter.
TEST_CASE("the hash of a key is frozen") {
  struct Row {
    std::string key;
    std::uint64_t seed;
    KeyHash want;
  };
  const Row row = GENERATE(values<Row>({
      {"", 0, 0x2d06800538d394c2},
      {"", 42, 0xb029411ff43d84d2},
      {"joe@example.org", 0, 0xa230c76d8d4277fb},
      {"joe@example.org", 42, 0x23ed5bf73eaa1bb9},
      {"@example.org", 42, 0x8894c659a70b2ba9},
      {"@.example.org", 42, 0x31c2fdd9532a9c01},
      {std::string(64, 'a') + "@" + std::string(180, 'b') + ".example", 42, 0x67529c0c88a4ca15},
      {std::string(257, 'x'), 0xffffffffffffffff, 0x27750371770a13f0},
  }));
  CAPTURE(row.key, row.seed);
  CHECK(hash_key(row.key, row.seed) == row.want);
}

// Worked out by tests/golden/format_test.py, which is an implementation of its own.
TEST_CASE("the hash and the pair of a key are frozen in every family") {
  struct Row {
    HashFamily family;
    KeyHash hash;
    HashPair pair;
  };
  const Row row = GENERATE(values<Row>({
      {HashFamily::xxh3, 0x7b9b137c9d5acd62, {0xa4225cb4b0289770, 0x4268c633a8af6191}},
      {HashFamily::murmur3, 0x06df882e3471ea51, {0x06df882e3471ea51, 0x63b61c938074d6fe}},
      {HashFamily::fnv1a_murmur3, 0xdc86eb15c56b4c73, {0xd5a762e790f96222, 0x06df882e3471ea51}},
  }));
  CAPTURE(hash_family_name(row.family));
  CHECK(hash_key("j\xc3\xbcrgen@example.org", 42, row.family) == row.hash);
  CHECK(hash_pair("j\xc3\xbcrgen@example.org", 42, row.family) == row.pair);
}

TEST_CASE("every bit of the seed changes the hash, in every family") {
  const HashFamily family = GENERATE(from_range(std::begin(kHashFamilies), std::end(kHashFamilies)));
  CAPTURE(hash_family_name(family));
  std::set<KeyHash> hashes;
  for (unsigned bit = 0; bit < 64; ++bit) {
    hashes.insert(hash_key("joe@example.org", std::uint64_t{1} << bit, family));
    hashes.insert(hash_pair("joe@example.org", std::uint64_t{1} << bit, family).first);
  }
  CHECK(hashes.size() >= 64);
  CHECK(hashes.count(hash_key("joe@example.org", 0, family)) == 0);
}

TEST_CASE("another seed gives another hash") {
  CHECK(hash_key("joe@example.org", 1) != hash_key("joe@example.org", 2));
}

TEST_CASE("a mixed hash keeps its high bits, and every bit of it and of the seed counts in the low ones") {
  constexpr KeyHash kHash = 0x23ed5bf73eaa1bb9;
  CHECK(mix_hash(kHash, 7) == 0x23ed5bf76c37c692);  // FORMAT.md
  std::set<KeyHash> mixed = {mix_hash(kHash, 7)};
  for (unsigned bit = 0; bit < 64; ++bit) {
    CHECK(mix_hash(kHash, std::uint64_t{1} << bit) >> 32 == kHash >> 32);
    mixed.insert(mix_hash(kHash, 7 ^ std::uint64_t{1} << bit));
    mixed.insert(mix_hash(kHash ^ std::uint64_t{1} << bit, 7));
  }
  CHECK(mixed.size() == 129);
  std::array<KeyHash, 3> hashes = {kHash, 0, ~KeyHash{0}};
  mix_hashes(hashes, 7, hashes.data());
  CHECK(hashes == std::array<KeyHash, 3>{mix_hash(kHash, 7), mix_hash(0, 7), mix_hash(~KeyHash{0}, 7)});
}

TEST_CASE("random seeds differ from call to call") {
  std::set<std::uint64_t> seeds, high_halves, low_halves;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t seed = random_seed();
    seeds.insert(seed);
    high_halves.insert(seed >> 32);
    low_halves.insert(seed & 0xffffffff);
  }
  CHECK(seeds.size() == 100);
  // Two of them may be the same by chance, once in some million runs.
  CHECK(high_halves.size() >= 99);
  CHECK(low_halves.size() >= 99);
}

}  // namespace
}  // namespace bloomgate
