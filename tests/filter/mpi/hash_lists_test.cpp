// Lists of hashes between ranks.
#include "filter/mpi/hash_lists.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "tests/support/catch.hpp"

namespace bloomgate::mpi {
namespace {

using Hashes = std::vector<KeyHash>;

TEST_CASE("two ascending lists are united into one that has each hash once and no memory to spare") {
  constexpr KeyHash kMost = ~KeyHash{0};
  CHECK((united({}, {}) == Hashes{}));
  CHECK((united({1, 1, 3}, {}) == Hashes{1, 3}));
  CHECK((united({}, {0, kMost}) == Hashes{0, kMost}));
  CHECK((united({1, 3, kMost}, {0, 1, 2, kMost}) == Hashes{0, 1, 2, 3, kMost}));
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    Hashes a(random() % 50);
    Hashes b(random() % 50);
    for (KeyHash& hash : a) hash = random() % 60;
    for (KeyHash& hash : b) hash = random() % 60;
    std::set<KeyHash> want(a.begin(), a.end());
    want.insert(b.begin(), b.end());
    std::ranges::sort(a);
    std::ranges::sort(b);
    const Hashes got = united(a, b);
    CHECK((got == Hashes(want.begin(), want.end())));
    CHECK(got.capacity() == got.size());
  }
}

}  // namespace
}  // namespace bloomgate::mpi
