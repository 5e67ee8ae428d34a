#include "filter/system/anonymous_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("memory is zeroed, can be written, and moves with its owner") {
  AnonymousMemory memory(10'000, "a test");
  REQUIRE(memory.bytes().size() == 10'000);
  CHECK(std::ranges::count(memory.bytes(), std::byte{0}) == 10'000);
  std::ranges::fill(memory.bytes(), std::byte{7});
  const AnonymousMemory moved(std::move(memory));
  CHECK(moved.bytes().size() == 10'000);
  CHECK(moved.bytes().back() == std::byte{7});
  CHECK(memory.bytes().empty());  // NOLINT(bugprone-use-after-move): it has none
}

TEST_CASE("memory ends with its owner") {
  void* address = nullptr;
  {
    const AnonymousMemory memory(10'000, "a test");
    address = memory.bytes().data();
  }
  const int result = msync(address, 1, MS_ASYNC);
  CHECK((result == -1 && errno == ENOMEM));
}

TEST_CASE("memory that cannot be had is an error with its size and purpose") {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max() / 2}) {
    const BloomgateError error = error_of([&] { AnonymousMemory(bytes, "a test"); });
    CHECK(error.code() == ErrorCode::out_of_memory);
    CHECK(error.what() == "cannot have " + std::to_string(bytes) + " bytes of memory for a test");
  }
}

}  // namespace
}  // namespace bloomgate::test
