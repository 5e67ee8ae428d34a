#include "filter/system/bus_fault.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/system/file_descriptor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE_METHOD(WithPath, "a filter that is truncated while it is read lists no sender, and is reported as damaged",
                 "[bus fault]") {
  install_bus_fault_handler();
  const auto addresses = numbered_addresses(0, 50'000);
  build_filter(path, addresses);
  const MappedFilter filter(path);
  REQUIRE_FALSE(filter.damaged());
  std::filesystem::resize_file(path, kHeaderBytes);

  std::array<std::uint64_t, 4> found = {};
  {
    std::vector<std::jthread> readers;
    for (std::uint64_t& count : found) {
      readers.emplace_back([&] {
        for (const std::string& address : addresses) count += filter.view().may_contain(address) ? 1U : 0U;
      });
    }
  }
  for (const std::uint64_t count : found) CHECK(count == 0);
  CHECK(filter.damaged());
  CHECK(error_code_of([&] { filter.verify_body(); }) == ErrorCode::changed_while_open);
}

TEST_CASE_METHOD(InFolder, "damage to one filter is not reported of another", "[bus fault]") {
  install_bus_fault_handler();
  build_filter(folder.file("good.bloom"), {"joe@example.org"});
  build_filter(folder.file("bad.bloom"), {"joe@example.org"});
  const MappedFilter good(folder.file("good.bloom"));
  const MappedFilter bad(folder.file("bad.bloom"));
  std::filesystem::resize_file(folder.file("bad.bloom"), 0);
  CHECK_FALSE(bad.view().may_contain("joe@example.org"));
  CHECK(good.view().may_contain("joe@example.org"));
  CHECK(bad.damaged());
  CHECK_FALSE(good.damaged());
}

TEST_CASE_METHOD(WithPath, "a fault at the start of a mapping is not one of the mapping that ends there",
                 "[bus fault]") {
  install_bus_fault_handler();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  write_file(path, std::string(2 * page, 'x'));
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  auto* const data = static_cast<volatile char*>(mmap(nullptr, 2 * page, PROT_READ, MAP_SHARED, file.get(), 0));
  {
    const GuardedMapping first(const_cast<char*>(data), page), second(const_cast<char*>(data + page), page);
    std::filesystem::resize_file(path, 0);
    CHECK(data[page] == 0);
    CHECK(second.faulted());
    CHECK_FALSE(first.faulted());
  }
  munmap(const_cast<char*>(data), 2 * page);
}

TEST_CASE_METHOD(WithPath, "a slot is free again after its mapping is gone, and starts without a fault",
                 "[bus fault]") {
  install_bus_fault_handler();
  for (std::size_t i = 0; i < 2 * kMaxGuardedMappings; ++i) {
    build_filter(path, {"joe@example.org"});
    const MappedFilter filter(path);
    REQUIRE_FALSE(filter.damaged());
    std::filesystem::resize_file(path, 0);
    REQUIRE_FALSE(filter.view().may_contain("joe@example.org"));
    REQUIRE(filter.damaged());
  }
}

TEST_CASE_METHOD(WithPath, "more filters than there are slots are refused, and the others stay mapped") {
  build_filter(path, {"joe@example.org"});
  std::vector<std::unique_ptr<MappedFilter>> filters;
  const auto open_one = [&] { filters.push_back(std::make_unique<MappedFilter>(path)); };
  for (std::size_t i = 0; i < kMaxGuardedMappings; ++i) open_one();
  CHECK(error_code_of(open_one) == ErrorCode::too_many_mappings);
  CHECK(filters.front()->view().may_contain("joe@example.org"));
  filters.pop_back();
  CHECK_NOTHROW(open_one());
}

// How a program ends that has `action` for SIGBUS, installs our handler, and then meets a fault in another mapping.
int status_of_fault_elsewhere(void (*action)(int)) {
  const TemporaryFolder folder;
  const std::string path = folder.file("other");
  write_file(path, std::string(4096, 'x'));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Only async-signal-safe calls and the code under test: the child has this process's threads' locks, not its
    // threads.
    signal(SIGBUS, action);
    install_bus_fault_handler();
    install_bus_fault_handler();  // by the program, and by a library in it
    const int file = open(path.c_str(), O_RDWR);
    auto* const data = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0));
    if (ftruncate(file, 0) != 0) _exit(2);
    const char byte = data[0];
    _exit(byte == 'x' ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("a bus fault anywhere else still ends the program") {
  const int status = status_of_fault_elsewhere(SIG_DFL);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGBUS);
}

TEST_CASE("at a bus fault anywhere else the program's own handler is called") {
  const int status = status_of_fault_elsewhere([](int) { _exit(7); });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

}  // namespace
}  // namespace bloomgate::test
