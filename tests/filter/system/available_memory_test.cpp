#include "filter/system/available_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// A system as available_memory() sees it: 1,000 MiB are free.
class System {
 public:
  System() { write("proc/meminfo", "MemTotal:       2048000 kB\nMemAvailable:   1024000 kB\n"); }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  std::uint64_t available() const { return available_memory(folder_.path()); }

 private:
  test::TemporaryFolder folder_;
};

TEST_CASE("without limits all free memory is available") {
  CHECK(System().available() == 1000 * kMiB);
}

TEST_CASE_METHOD(System, "a control group of version 2 leaves its limit less its own memory") {
  write("proc/self/cgroup", "0::/system.slice/build.service\n");
  write("sys/fs/cgroup/system.slice/build.service/memory.max", "max\n");
  CHECK(available() == 1000 * kMiB);
  write("sys/fs/cgroup/system.slice/memory.max", "536870912\n");
  write("sys/fs/cgroup/system.slice/memory.stat", "anon 12582912\nfile 104857600\n");
  CHECK(available() == 500 * kMiB);
  write("sys/fs/cgroup/memory.max", "1000\n");
  CHECK(available() == 1000);
}

TEST_CASE_METHOD(System, "a control group of version 1 leaves its limit less its own memory") {
  write("proc/self/cgroup", "5:devices:/\n4:memory:/build\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/build/memory.limit_in_bytes", "314572800\n");
  write("sys/fs/cgroup/memory/build/memory.stat", "rss 1\ntotal_rss 104857600\n");
  CHECK(available() == 200 * kMiB);
}

TEST_CASE_METHOD(System, "a group that holds more than its limit leaves nothing") {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "1000\n");
  write("sys/fs/cgroup/memory.stat", "anon 2000\n");
  CHECK(available() == 0);
}

// An emulator would be limited itself, and so it does not pass the limit on.
TEST_CASE_METHOD(System, "a limit of the address space leaves what is not in use of it", "[not emulated]") {
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  // No process reaches it, with a sanitizer neither.
  const rlimit ours = {.rlim_cur = std::min(rlim_t{1} << 50, before.rlim_max), .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &ours) == 0);
  const std::uint64_t pages = (ours.rlim_cur - 100 * kMiB) / static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  write("proc/self/statm", std::to_string(pages) + " 1 2\n");
  const std::uint64_t left = available();
  setrlimit(RLIMIT_AS, &before);
  CHECK(left == 100 * kMiB);
}

TEST_CASE_METHOD(System, "what is not known is no limit") {
  write("proc/meminfo", "MemTotal:       2048000 kB\n");
  write("proc/self/cgroup", "1:x:/\n5:devices:/\n0:x:memory\n");
  rlimit ours = {};
  REQUIRE(getrlimit(RLIMIT_AS, &ours) == 0);
  CHECK(available() == (ours.rlim_cur == RLIM_INFINITY ? std::numeric_limits<std::uint64_t>::max() : ours.rlim_cur));
}

}  // namespace
}  // namespace bloomgate
