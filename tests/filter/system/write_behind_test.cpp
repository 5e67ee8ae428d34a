// Writing behind the work: everything is written once, and a failure reaches whoever works.
#include "filter/system/write_behind.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "filter/base/parallel.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kPieceBytes = 4096;

// Fills `count` bytes of the piece.
auto filled(std::size_t count, std::byte value) {
  return [=](std::span<std::byte> memory) {
    std::ranges::fill(memory.first(count), value);
    return memory.first(count);
  };
}

TEST_CASE("every piece that a thread makes is written once, unchanged") {
  constexpr std::size_t kCount = 1000;
  std::vector<int> written(kCount);
  std::mutex mutex;
  WriteBehind disk(kPieceBytes, 3, 2);
  for_each_parallel(4, kCount, [&](std::size_t i) {
    const auto value = static_cast<std::byte>(i % 251);
    disk.add(filled(i + 1, value), [&, i, value](std::span<const std::byte> made) {
      const bool is_right =
          made.size() == i + 1 && std::ranges::count(made, value) == static_cast<std::ptrdiff_t>(i + 1);
      const std::lock_guard lock(mutex);
      written[i] += is_right ? 1 : 1000;
    });
  });
  disk.finish();
  CHECK(std::ranges::count(written, 1) == static_cast<std::ptrdiff_t>(kCount));
}

TEST_CASE("a finished piece is written from its place in memory, without more memory") {
  std::vector<std::byte> made(1000);
  std::atomic<int> written{0};
  WriteBehind disk(0, 0, 2);
  for (std::size_t i = 0; i < made.size(); ++i) {
    disk.add(std::span(made).subspan(i, 1), [&, at = made.data() + i](std::span<const std::byte> piece) {
      written += piece.data() == at && piece.size() == 1 ? 1 : 1000;
    });
  }
  disk.finish();
  CHECK(written == 1000);
  disk.add(made, [](auto) { throw std::runtime_error("the disk is full"); });
  CHECK_THROWS_WITH(disk.finish(), "the disk is full");
  CHECK_THROWS_WITH(disk.add(made, [](auto) {}), "the disk is full");
}

TEST_CASE("a write that fails ends the work, and nothing more is written") {
  std::atomic<int> written{0};
  WriteBehind disk(kPieceBytes, 1, 1);
  disk.add(filled(1, std::byte{1}), [&](auto) {
    ++written;
    throw std::runtime_error("the disk is full");
  });
  // There is one piece only, so that the first write has ended.
  CHECK_THROWS_WITH(disk.add(filled(1, std::byte{2}), [&](auto) { ++written; }), "the disk is full");
  CHECK_THROWS_WITH(disk.finish(), "the disk is full");
  CHECK(written == 1);
}

TEST_CASE("after a failed write the caller may release the finished pieces: no thread reads them") {
  const std::vector<std::byte> made(1);
  std::atomic<bool> is_being_written{false};
  std::atomic<bool> fails{false};
  std::atomic<bool> has_ended{false};
  WriteBehind disk(0, 0, 2);
  disk.add(made, [&](auto) {
    is_being_written = true;
    is_being_written.notify_all();
    fails.wait(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // longer than the failure takes to be told
    has_ended = true;
  });
  disk.add(made, [&](auto) {
    is_being_written.wait(false);
    fails = true;
    fails.notify_all();
    throw std::runtime_error("the disk is full");
  });
  const auto add_until_told = [&] {
    while (true) disk.add(made, [](auto) {});
  };
  CHECK_THROWS_WITH(add_until_told(), "the disk is full");
  CHECK(has_ended);
}

TEST_CASE("pieces that wait after a failed write are not written") {
  std::atomic<int> written{0};
  std::atomic<bool> both_are_there{false};
  WriteBehind disk(kPieceBytes, 2, 1);
  disk.add(filled(1, std::byte{1}), [&](auto) {
    both_are_there.wait(false);
    throw std::runtime_error("the disk is full");
  });
  disk.add(filled(1, std::byte{2}), [&](auto) { ++written; });
  both_are_there = true;
  both_are_there.notify_all();
  CHECK_THROWS_WITH(disk.finish(), "the disk is full");
  CHECK(written == 0);
}

TEST_CASE("a thread that fails to make a piece returns its memory") {
  int written = 0;
  WriteBehind disk(kPieceBytes, 1, 1);
  CHECK_THROWS_WITH(disk.add([](auto) -> std::span<const std::byte> { throw std::runtime_error("no memory"); },
                             [&](auto) { ++written; }),
                    "no memory");
  disk.add(filled(7, std::byte{3}), [&](auto) { ++written; });
  disk.finish();
  CHECK(written == 1);
}

TEST_CASE("abandoned work is not waited for") {
  std::atomic<int> written{0};
  {
    WriteBehind disk(kPieceBytes, 4, 1);
    for (int i = 0; i < 4; ++i) disk.add(filled(1, std::byte{1}), [&](auto) { ++written; });
  }
  CHECK(written <= 4);
}

}  // namespace
}  // namespace bloomgate
