#include "filter/base/parallel.hpp"

#include <sched.h>

#include <thread>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("there is one thread for each processor that the thread may run on") {
  // In a thread of its own: the other tests keep all processors.
  std::jthread([] {
    cpu_set_t allowed;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    CHECK(default_threads() == static_cast<unsigned>(CPU_COUNT(&allowed)));
    std::size_t first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    CPU_ZERO(&allowed);
    CPU_SET(first, &allowed);
    CHECK(sched_setaffinity(0, sizeof allowed, &allowed) == 0);
    CHECK(default_threads() == 1);
  }).join();
}

}  // namespace
}  // namespace bloomgate
