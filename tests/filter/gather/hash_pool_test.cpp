#include "filter/gather/hash_pool.hpp"

#include <memory>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("returned memory is lent again, empty, to one borrower at a time") {
  HashPool pool;
  auto first = pool.take();
  auto second = pool.take();
  CHECK(first.get() != second.get());
  first->assign(1000, 7);
  second->assign(1000, 8);
  const KeyHash* const memory = first->data();
  first.reset();
  const auto again = pool.take();
  CHECK(again->empty());
  CHECK(again->capacity() >= 1000);
  CHECK(again->data() == memory);
  CHECK(*second == std::vector<KeyHash>(1000, 8));
  CHECK(pool.take()->capacity() == 0);
}

TEST_CASE("of several returned buffers one is lent, and the others stay") {
  HashPool pool;
  for (auto runs = std::vector{pool.take(), pool.take()}; const auto& run : runs) run->reserve(1000);
  const auto one = pool.take();
  const auto other = pool.take();
  CHECK(one->capacity() >= 1000);
  CHECK(other->capacity() >= 1000);
}

TEST_CASE("hashes outlive their pool") {
  auto pool = std::make_unique<HashPool>();
  const auto run = pool->take();
  run->assign(3, 5);
  pool.reset();
  CHECK(*run == std::vector<KeyHash>(3, 5));
}

}  // namespace
}  // namespace bloomgate
