#include "filter/hash/fnv1a.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("FNV-1a has the values that its authors published") {
  struct Row {
    std::string_view key;
    std::uint64_t want;
  };
  const Row row = GENERATE(values<Row>({
      {"", 0xcbf29ce484222325},
      {"a", 0xaf63dc4c8601ec8c},
      {"b", 0xaf63df4c8601f1a5},
      {"fo", 0x08985907b541d342},
      {"foo", 0xdcb27518fed9d577},
      {"foob", 0xdd120e790c2512af},
      {"fooba", 0xcac165afa2fef40a},
      {"foobar", 0x85944171f73967e8},
  }));
  CHECK(fnv1a(row.key, 0) == row.want);
}

// As FORMAT.md has it: in place of the offset basis.
TEST_CASE("the seed changes the value that the hash starts with, bit by bit") {
  CHECK(fnv1a("", 7) == (0xcbf29ce484222325 ^ 7));
  CHECK(fnv1a("", ~std::uint64_t{0}) == ~std::uint64_t{0xcbf29ce484222325});
  CHECK(fnv1a("a", 0x8080808080808080) == (0xcbf29ce484222325 ^ 0x8080808080808080 ^ 'a') * 0x00000100000001b3);
}

TEST_CASE("bytes above 127 are hashed as unsigned") {
  CHECK(fnv1a("\xff", 0) == (0xcbf29ce484222325 ^ 0xff) * 0x00000100000001b3);
}

}  // namespace
}  // namespace bloomgate
