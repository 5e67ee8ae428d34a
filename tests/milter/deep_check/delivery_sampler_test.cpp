// Samples with answers of our own in the checker's place: tests/e2e has real ones.
#include "milter/deep_check/delivery_sampler.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using namespace std::chrono_literals;
using Answers = std::vector<SampleAnswer>;

// The end of a test that fails, and no time that a test that passes takes.
constexpr std::chrono::seconds kLong{20};

// A sampler whose checker says what it is told to say, once it is let go on.
class Sampling {
 public:
  explicit Sampling(DeliverySampler::Limits limits = {}, double share = 1)
      : sampler(std::make_unique<DeliverySampler>(
            share,
            [this, alive = alive_](const Envelope& envelope, const MessageText& text) {
              return answer(envelope, text);
            },
            [this, log = log_](SampleAnswer made, std::string_view line) { note(made, line); }, limits)) {
    alive_.reset();
    log_.reset();
  }
  ~Sampling() {
    let_go();
    sampler.reset();
    if (ends_soon()) return;
    std::fputs("the sampler's thread goes on, and uses what ends here\n", stderr);
    std::abort();
  }

  void hold() {
    const std::lock_guard lock(mutex_);
    is_held_ = true;
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
    changed_.notify_all();
  }
  void wait_for_asked(std::size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, kLong, [&] { return asked_.size() >= count; }));
  }
  Answers wait_for_answers(std::size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, kLong, [&] { return answers_.size() >= count; }));
    return answers_;
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::size_t answer_count() {
    const std::lock_guard lock(mutex_);
    return answers_.size();
  }
  bool thread_ended() const { return *ended_; }
  bool ends_soon() const {
    const auto deadline = std::chrono::steady_clock::now() + kLong;
    while (!thread_ended() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
    return thread_ended();
  }
  // Whether the sampler still has the function that it reports with.
  bool may_report() const { return !log_held_.expired(); }

  DeepResult result = {.score = 7, .spam_threshold = 5, .server = "spamd:unix:/s"};
  bool fails = false;

 private:
  DeepResult answer(const Envelope& envelope, const MessageText& text) {
    std::string whole(static_cast<std::size_t>(text.size()), '\0');
    for (std::size_t done = 0; done < whole.size();) done += text.read(done, std::span(whole).subspan(done));
    std::unique_lock lock(mutex_);
    asked_.push_back(envelope.sender + ": " + whole);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_held_; });
    if (fails) throw std::runtime_error("spamd:unix:/s: \x1b no answer in time");
    return result;
  }
  void note(SampleAnswer made, std::string_view line) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(made);
    if (!line.empty()) lines_.emplace_back(line);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false;
  std::vector<std::string> asked_, lines_;
  Answers answers_;
  std::shared_ptr<std::atomic<bool>> ended_ = std::make_shared<std::atomic<bool>>(false);
  // Gone with the thread's checker. What the thread did before that is then seen, which a weak_ptr does not promise.
  std::shared_ptr<void> alive_{nullptr, [ended = ended_](void*) { *ended = true; }};
  std::shared_ptr<int> log_ = std::make_shared<int>();  // gone with that function
  std::weak_ptr<int> log_held_ = log_;

 public:
  std::unique_ptr<DeliverySampler> sampler;  // last: its thread uses the others
};

DeliverySample sample(const std::string& sender, const std::string& body = "Hello.",
                      const MessageText::Limits& limits = {1 << 20, 1 << 20, "/nowhere"}) {
  DeliverySample made = {.envelope = {.sender = sender},
                         .text = MessageText(limits),
                         .who = "queue_id=Q1 sender=<" + sender + ">",
                         .why = "identity=envelope whitelist=customers header_from=-"};
  made.text.add_body(body);
  return made;
}

TEST_CASE("spam and rejected samples count as spam, and the sender is named with the score") {
  for (const DeepVerdict verdict : {DeepVerdict::spam, DeepVerdict::reject}) {
    Sampling s;
    s.result.verdict = verdict;
    s.sampler->offer(sample("joe@example.org"));
    CHECK(s.wait_for_answers(1) == Answers{SampleAnswer::spam});
    REQUIRE(s.lines().size() == 1);
    CHECK_THAT(s.lines()[0],
               Matches("queue_id=Q1 sender=<joe@example.org> sample=spam score=7\\.0/5\\.0 identity=envelope "
                       "whitelist=customers header_from=- server=spamd:unix:/s check_ms=[0-9]+"));
  }
}

TEST_CASE("ham and deferred samples do not count as spam") {
  for (const DeepVerdict verdict : {DeepVerdict::ham, DeepVerdict::soft_reject}) {
    Sampling s;
    s.result.verdict = verdict;
    s.sampler->offer(sample("joe@example.org"));
    CHECK(s.wait_for_answers(1) == Answers{SampleAnswer::ham});
    CHECK_THAT(s.lines().at(0), Contains(" sample=ham score=7.0/5.0 "));
  }
}

TEST_CASE_METHOD(Sampling, "a checker that does not answer fails the sample, and the next sample is still sent") {
  fails = true;
  sampler->offer(sample("joe@example.org"));
  sampler->offer(sample("ann@example.org"));
  CHECK(wait_for_answers(2) == Answers{SampleAnswer::failed, SampleAnswer::failed});
  CHECK_THAT(lines().at(0), Matches("queue_id=Q1 sender=<joe@example.org> sample=failed identity=envelope .* "
                                    "check_ms=[0-9]+ : spamd:unix:/s: \\\\x1b no answer in time"));
}

TEST_CASE_METHOD(InFolder, "the checker gets the whole text, also what is in a file") {
  Sampling s;
  const std::string body(100'000, 'x');
  s.sampler->offer(sample("joe@example.org", body, {1 << 20, 1000, folder.path().string()}));
  s.wait_for_answers(1);
  CHECK(s.asked() == std::vector<std::string>{"joe@example.org: " + body});
}

TEST_CASE_METHOD(InFolder, "a sample without room in number, memory or on the disk is dropped and counted") {
  DeliverySampler::Limits limits;
  std::string body = "x";
  std::size_t memory = 1 << 20;
  std::size_t fits = 0;
  SECTION("number") {
    limits.messages = fits = 3;
  }
  SECTION("memory") {
    limits.memory_bytes = 100'000;
    body.assign(40'000, 'x');
    fits = 2;
  }
  SECTION("the disk") {
    limits.text_bytes = 100'000;
    memory = 1000;
    body.assign(30'000, 'x');
    fits = 3;
  }
  Sampling s(limits);
  s.hold();
  const auto offer = [&] {
    s.sampler->offer(sample("joe@example.org", body, {1 << 20, memory, folder.path().string()}));
  };
  offer();
  s.wait_for_asked(1);
  for (std::size_t i = 0; i < fits; ++i) offer();
  CHECK(s.answer_count() == 0);
  offer();
  CHECK(s.wait_for_answers(1) == Answers{SampleAnswer::dropped});
  s.let_go();
  CHECK(s.wait_for_answers(fits + 2).size() == fits + 2);
  CHECK(s.asked().size() == fits + 1);
  // There is room again.
  offer();
  s.wait_for_answers(fits + 3);
  CHECK(s.asked().size() == fits + 2);
}

TEST_CASE("a sample that is larger than the queue waits alone") {
  Sampling s({.messages = 16, .memory_bytes = 10, .text_bytes = 10});
  s.hold();
  s.sampler->offer(sample("joe@example.org"));
  s.wait_for_asked(1);
  s.sampler->offer(sample("ann@example.org"));
  CHECK(s.answer_count() == 0);
  s.sampler->offer(sample("bob@example.org"));
  CHECK(s.wait_for_answers(1) == Answers{SampleAnswer::dropped});
}

TEST_CASE_METHOD(Sampling, "a sample that cannot be offered counts as dropped") {
  sampler->drop();
  CHECK(wait_for_answers(1) == Answers{SampleAnswer::dropped});
  CHECK(lines().empty());
}

TEST_CASE("a sampler ends without waiting for a checker or reporting anything, and drops waiting samples") {
  Sampling s({.messages = 1});
  s.hold();
  s.sampler->offer(sample("joe@example.org"));
  s.wait_for_asked(1);
  s.sampler->offer(sample("ann@example.org"));
  SECTION("told to stop") {
    s.sampler->stop();
    for (int i = 0; i < 3; ++i) s.sampler->offer(sample("bob@example.org"));  // more than there is room for
    s.sampler->drop();
  }
  SECTION("destroyed") {
    s.sampler.reset();
  }
  CHECK_FALSE(s.thread_ended());
  CHECK_FALSE(s.may_report());
  s.let_go();
  s.sampler.reset();
  CHECK(s.ends_soon());
  CHECK(s.answer_count() == 0);
  CHECK(s.asked().size() == 1);
}

TEST_CASE_METHOD(InFolder,
                 "a stopped sampler drops the files of waiting samples while its thread still waits for a checker") {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  Sampling s;
  s.hold();
  s.sampler->offer(sample("joe@example.org"));
  s.wait_for_asked(1);
  const auto before = open_files();
  s.sampler->offer(sample("ann@example.org", std::string(100'000, 'x'), {1 << 20, 1000, folder.path().string()}));
  CHECK(open_files() == before + 1);
  s.sampler->stop();
  CHECK(open_files() == before);
}

TEST_CASE("the sample is all messages, none, or about the share") {
  Sampling all({}, 1), none({}, 0), half({}, 0.5);
  int drawn = 0;
  for (int i = 0; i < 10'000; ++i) {
    REQUIRE(all.sampler->draw());
    REQUIRE_FALSE(none.sampler->draw());
    drawn += half.sampler->draw() ? 1 : 0;
  }
  // Ten standard deviations.
  CHECK(std::abs(drawn - 5000) < 500);
}

TEST_CASE("nothing is lost when many sessions offer at once") {
  Sampling s({.messages = 5});
  constexpr int kSessions = 4, kEach = 200;
  std::vector<std::thread> sessions;
  for (int thread = 0; thread < kSessions; ++thread) {
    sessions.emplace_back([&s] {
      for (int i = 0; i < kEach; ++i) s.sampler->offer(sample("joe@example.org"));
    });
  }
  for (std::thread& session : sessions) session.join();
  const Answers answers = s.wait_for_answers(kSessions * kEach);
  CHECK(answers.size() == kSessions * kEach);
  CHECK(static_cast<std::size_t>(std::ranges::count(answers, SampleAnswer::ham)) == s.asked().size());
}

}  // namespace
}  // namespace bloomgate::test
