#include "milter/record/queued_sink.hpp"

#include <spdlog/logger.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

constexpr std::chrono::minutes kPatience{1};

// Keeps what is written. Can be held up, and can fail.
class Paper final : public spdlog::sinks::sink {
 public:
  void log(const spdlog::details::log_msg& line) override {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !is_held_; });
    if (fails_) throw std::runtime_error("no paper");
    lines_.emplace_back(line.payload.data(), line.payload.size());
  }
  void flush() override {
    const std::lock_guard lock(mutex_);
    if (flush_fails_) throw std::runtime_error("no paper");
    ++flushes_;
  }
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

  void set(bool held, bool fails = false, bool flush_fails = false) {
    const std::lock_guard lock(mutex_);
    is_held_ = held;
    fails_ = fails;
    flush_fails_ = flush_fails;
    changed_.notify_all();
  }
  bool wait_until_begun(std::size_t lines) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return begun_ >= lines; });
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::size_t flushes() {
    const std::lock_guard lock(mutex_);
    return flushes_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  std::size_t begun_ = 0;
  std::size_t flushes_ = 0;
  bool is_held_ = false;
  bool fails_ = false;
  bool flush_fails_ = false;
};

struct Log {
  explicit Log(QueuedSink::Limits limits = {.flush_patience = std::chrono::minutes(1)})
      : queue(std::make_shared<QueuedSink>(paper, limits)) {}

  std::shared_ptr<Paper> paper = std::make_shared<Paper>();
  std::shared_ptr<QueuedSink> queue;
  spdlog::logger logger{"test", queue};
};

std::string lost(int count) {
  return "log lines lost here: " + std::to_string(count) + "; they came faster than the log takes them, or it failed";
}

TEST_CASE_METHOD(Log, "lines are written in their order, and all of them before the queue ends") {
  std::vector<std::string> expected;
  for (int i = 0; i < 5000; ++i) {
    logger.info("line {}", i);
    expected.push_back("line " + std::to_string(i));
  }
  logger.sinks().clear();
  queue.reset();
  CHECK(paper->lines() == expected);
}

TEST_CASE_METHOD(Log, "a line is written without a flush") {
  logger.info("one");
  REQUIRE(paper->wait_until_begun(1));
  logger.info("two");
  REQUIRE(paper->wait_until_begun(2));
}

TEST_CASE_METHOD(Log, "a line after a long silence is written") {
  std::size_t lines = 0;
  for (const auto silence : {std::chrono::milliseconds(100), std::chrono::milliseconds(1'000)}) {
    logger.info("line");
    REQUIRE(paper->wait_until_begun(++lines));
    // Much longer than the writer gathers lines. That it rests nothing tells; where it does not yet, no harm is done.
    std::this_thread::sleep_for(silence);
  }
  logger.info("last");
  CHECK(paper->wait_until_begun(++lines));
}

TEST_CASE_METHOD(Log, "flush returns after all earlier lines are written and the writer is flushed") {
  for (int i = 0; i < 100; ++i) {
    logger.info("line");
    logger.flush();
    REQUIRE(paper->lines().size() == static_cast<std::size_t>(i + 1));
  }
  CHECK(paper->flushes() >= 100);
}

TEST_CASE(
    "a writer that hangs delays no thread: lines that do not fit are dropped, counted and reported when it continues") {
  Log log({.lines = 10, .flush_patience = std::chrono::milliseconds(1)});
  log.paper->set(true);
  log.logger.info("first");
  REQUIRE(log.paper->wait_until_begun(1));
  for (int i = 0; i < 25; ++i) log.logger.info("line {}", i);
  log.logger.flush();  // gives up
  CHECK(log.paper->lines().empty());
  log.paper->set(false);
  log.logger.sinks().clear();
  log.queue.reset();
  std::vector<std::string> expected{"first"};
  for (int i = 0; i < 10; ++i) expected.push_back("line " + std::to_string(i));
  expected.push_back(lost(15));
  CHECK(log.paper->lines() == expected);
}

TEST_CASE("the queue is limited in bytes, and a shorter line may still fit") {
  Log log({.bytes = 1000});
  log.paper->set(true);
  log.logger.info("first");
  REQUIRE(log.paper->wait_until_begun(1));
  log.logger.info(std::string(900, 'a'));
  log.logger.info(std::string(101, 'b'));
  log.logger.info(std::string(100, 'c'));
  log.logger.info("d");
  log.paper->set(false);
  log.logger.sinks().clear();
  log.queue.reset();
  CHECK(log.paper->lines() == std::vector<std::string>{"first", std::string(900, 'a'), std::string(100, 'c'), lost(2)});
}

TEST_CASE("lines that the writer fails to write are counted, and reported with the next one") {
  const bool fails_late = GENERATE(false, true);
  Log log;
  log.paper->set(false, !fails_late, fails_late);
  log.logger.info("one");
  log.logger.flush();
  log.logger.info("two");
  log.logger.flush();
  log.paper->set(false);
  log.logger.info("three");
  log.logger.flush();
  const std::vector<std::string> lines = log.paper->lines();
  REQUIRE(lines.size() >= 2);
  CHECK(lines[lines.size() - 2] == "three");
  CHECK(lines.back() == lost(2));
  CHECK(log.queue->lost_in_all() == 2);
  log.logger.info("four");
  log.logger.flush();
  CHECK(log.paper->lines().back() == "four");
  CHECK(log.queue->lost_in_all() == 2);
}

TEST_CASE_METHOD(Log, "a line that cannot be formatted is counted as lost") {
  queue->count_lost();
  logger.info("one");
  logger.flush();
  CHECK(paper->lines() == std::vector<std::string>{"one", lost(1)});
  CHECK(queue->lost_in_all() == 1);
}

TEST_CASE_METHOD(Log, "lines of many threads all arrive, each thread's in its order") {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      for (int i = 0; i < 500; ++i)
        logger.log(i % 50 == 0 ? spdlog::level::err : spdlog::level::info, "{} {}", thread, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  logger.flush();
  std::vector<int> next(4);
  for (const std::string& line : paper->lines()) {
    const auto thread = static_cast<std::size_t>(line[0] - '0');
    REQUIRE(line == std::to_string(thread) + " " + std::to_string(next[thread]++));
  }
  CHECK(next == std::vector<int>(4, 500));
}

}  // namespace
}  // namespace bloomgate
