#include "filter/system/available_memory.hpp"

#include <filesystem>
#include <fstream>
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

}  // namespace
}  // namespace bloomgate
