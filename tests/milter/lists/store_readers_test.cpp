#include "milter/lists/store_readers.hpp"

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Clock = StoreReaders::Clock;

// The end of a test that fails, and no time that a test that passes takes.
constexpr std::chrono::seconds kLong{60};

// A store on a disk that does not answer before it is told to. A reader may outlive the test, so this is shared.
struct SlowDisk {
  StoreReaders::Source source(const std::shared_ptr<SlowDisk>& self) {
    return {.find_cached =
                [self](KeyHash hash) { return hash == kCached ? StoreAnswer::present : StoreAnswer::not_cached; },
            .find =
                [self](KeyHash) {
                  ++self->reads_begun;
                  self->answers.wait();
                  return self->answer.load();
                }};
  }

  void begin_to_answer() {
    if (!answers_now.exchange(true)) answering.set_value();
  }

  static constexpr KeyHash kCached = 7;
  std::atomic<bool> answers_now{false};
  std::promise<void> answering;
  std::shared_future<void> answers = answering.get_future();
  std::atomic<StoreAnswer> answer{StoreAnswer::present};
  std::atomic<std::size_t> reads_begun{0};
};

struct Reading {
  // If a check fails, the sessions that still wait for the disk get an answer, so that the test ends.
  ~Reading() { disk->begin_to_answer(); }

  std::shared_ptr<SlowDisk> disk = std::make_shared<SlowDisk>();
  StoreReaders readers{disk->source(disk)};
  std::atomic<std::size_t> waiting{0};
  std::vector<std::future<Confirmation>> sessions;
};

// Until `holds`, which a test requires, or the time is over.
template <typename Condition>
bool comes_true(Condition holds) {
  const auto deadline = Clock::now() + kLong;
  while (!holds()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void await(const std::atomic<std::size_t>& value, std::size_t wanted) {
  REQUIRE(comes_true([&] { return value >= wanted; }));
}

// Waits in vain until a reader reads: one that is slow to start finds that nobody waits any more.
void let_a_reader_hang(StoreReaders& readers, const SlowDisk& disk) {
  const auto deadline = Clock::now() + kLong;
  while (disk.reads_begun == 0) {
    REQUIRE(Clock::now() < deadline);
    REQUIRE(readers.find(1, Clock::now() + std::chrono::milliseconds(10), {}) == Confirmation::timeout);
  }
}

TEST_CASE_METHOD(Reading, "a page in memory is read at once, without a wait") {
  int waits = 0;
  CHECK(readers.find(SlowDisk::kCached, Clock::now(), [&waits] { ++waits; }) == Confirmation::yes);
  CHECK(waits == 0);
  CHECK(disk->reads_begun == 0);
}

TEST_CASE_METHOD(Reading, "each result of a read is returned, and a session announces its wait before it") {
  disk->begin_to_answer();
  const std::pair<StoreAnswer, Confirmation> cases[] = {{StoreAnswer::present, Confirmation::yes},
                                                        {StoreAnswer::absent, Confirmation::no},
                                                        {StoreAnswer::damaged, Confirmation::damaged},
                                                        {StoreAnswer::unreadable, Confirmation::unreadable}};
  for (const auto& [answer, want] : cases) {
    disk->answer = answer;
    int waits = 0;
    const auto deadline = Clock::now() + kLong;
    CHECK(readers.find(1, deadline, [&waits] { ++waits; }) == want);
    CHECK(waits == 1);
    CHECK(Clock::now() < deadline);  // it is woken, and does not find the answer at the end
  }
  CHECK(readers.find(1, Clock::now() + kLong, {}) == Confirmation::unreadable);
}

TEST_CASE_METHOD(Reading,
                 "a session waits for a disk that hangs until its deadline, and pages in memory are read meanwhile") {
  const auto begin = Clock::now();
  CHECK(readers.find(1, begin + std::chrono::milliseconds(30), {}) == Confirmation::timeout);
  CHECK(Clock::now() - begin >= std::chrono::milliseconds(30));
  let_a_reader_hang(readers, *disk);
  CHECK(readers.find(SlowDisk::kCached, Clock::now(), {}) == Confirmation::yes);
  disk->begin_to_answer();
  CHECK(readers.find(1, Clock::now() + kLong, {}) == Confirmation::yes);
}

TEST_CASE_METHOD(Reading,
                 "several pages are read at once, a bounded number waits, and more are refused without waiting") {
  const auto begin_session = [&] {
    sessions.push_back(
        std::async(std::launch::async, [&] { return readers.find(1, Clock::now() + kLong, [&] { ++waiting; }); }));
  };
  for (std::size_t i = 0; i < StoreReaders::kMostReaders; ++i) {
    begin_session();
    await(disk->reads_begun, i + 1);
  }
  for (std::size_t i = 0; i < StoreReaders::kMostWaiting; ++i) begin_session();
  await(waiting, StoreReaders::kMostReaders + StoreReaders::kMostWaiting);
  CHECK(disk->reads_begun == StoreReaders::kMostReaders);
  int waits = 0;
  CHECK(readers.find(1, Clock::now() + kLong, [&waits] { ++waits; }) == Confirmation::busy);
  CHECK(waits == 0);
  disk->begin_to_answer();
  for (auto& session : sessions) CHECK(session.get() == Confirmation::yes);
  CHECK(readers.find(1, Clock::now() + kLong, {}) == Confirmation::yes);
}

TEST_CASE_METHOD(Reading, "a page that no session waits for any more is not read") {
  for (std::size_t i = 0; i < StoreReaders::kMostReaders; ++i) {
    sessions.push_back(std::async(std::launch::async, [&] { return readers.find(1, Clock::now() + kLong, {}); }));
    await(disk->reads_begun, i + 1);
  }
  for (int i = 0; i < 10; ++i) CHECK(readers.find(1, Clock::now(), {}) == Confirmation::timeout);
  disk->begin_to_answer();
  for (auto& session : sessions) CHECK(session.get() == Confirmation::yes);
  CHECK(readers.find(1, Clock::now() + kLong, {}) == Confirmation::yes);
  CHECK(disk->reads_begun == StoreReaders::kMostReaders + 1);
}

TEST_CASE("readers end without waiting for a hanging disk, and release the store when it answers") {
  auto disk = std::make_shared<SlowDisk>();
  const std::weak_ptr<SlowDisk> left = disk;
  {
    StoreReaders readers(disk->source(disk));
    let_a_reader_hang(readers, *disk);
  }
  disk->begin_to_answer();
  disk.reset();
  CHECK(comes_true([&] { return left.expired(); }));
}

TEST_CASE("many messages at once get each the answer to its own question") {
  const auto is_there = [](KeyHash hash) { return hash % 3 == 0 ? StoreAnswer::present : StoreAnswer::absent; };
  StoreReaders readers({.find_cached = [](KeyHash) { return StoreAnswer::not_cached; }, .find = is_there});
  std::atomic<int> wrong = 0;
  test::at_once(8, [&](int thread) {
    for (KeyHash hash = static_cast<KeyHash>(thread); hash < 800; hash += 8) {
      const Confirmation want = hash % 3 == 0 ? Confirmation::yes : Confirmation::no;
      wrong += readers.find(hash, Clock::now() + kLong, {}) == want ? 0 : 1;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("readers that have nothing to do end with their store") {
  auto disk = std::make_shared<SlowDisk>();
  const std::weak_ptr<SlowDisk> left = disk;
  disk->begin_to_answer();
  {
    StoreReaders readers(disk->source(disk));
    CHECK(readers.find(1, Clock::now() + kLong, {}) == Confirmation::yes);
  }
  disk.reset();
  CHECK(comes_true([&] { return left.expired(); }));
}

}  // namespace
}  // namespace bloomgate
