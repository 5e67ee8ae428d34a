// The verifier of the daemon, with the real program as its child.
#include "milter/dkim/child_verifier.hpp"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "milter/dkim/library_verifier.hpp"
#include "tests/milter/dkim/signing.hpp"
#include "tests/milter/dkim/verifying.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/no_descriptors.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using test::begun;
using test::kBody;
using test::kHeader;
using test::outcome;
using test::outcome_of;
using test::records;
using test::TemporaryFolder;

// The child of the real program, and what it is told of its faults.
ChildVerifier::Options options_with(std::chrono::milliseconds patience = 5s) {
  return {.rules = {.dns_timeout = patience},
          .resolver = records(),
          .patience = patience,
          .program = test::milter_program()};
}

class WithChild {
 public:
  explicit WithChild(std::chrono::milliseconds patience = 5s) : WithChild(options_with(patience)) {}
  explicit WithChild(ChildVerifier::Options options)
      : verifier_(
            std::move(options),
            {.on_fault =
                 [this](const std::string& what) {
                   const std::lock_guard lock(mutex_);
                   faults_ += what + "\n";
                 },
             .before_waiting = [this] { ++waits_; },
             .names = {.on_failing = [this](bool failing) { note(failing ? "failing" : "working"); },
                       .on_key = [this](TxtStatus status,
                                        std::chrono::microseconds) { note(std::string(txt_status_name(status))); }}}) {}

  ChildVerifier& operator*() noexcept { return verifier_; }
  int waits() const noexcept { return waits_; }
  std::string faults() {
    const std::lock_guard lock(mutex_);
    return faults_;
  }
  // What it was told of name servers, in the order of the alphabet, as soon as that is so many words.
  std::vector<std::string> notes(std::size_t count) {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::lock_guard lock(mutex_);
        if (notes_.size() >= count) break;
      }
      std::this_thread::sleep_for(10ms);
    }
    const std::lock_guard lock(mutex_);
    std::vector<std::string> sorted = notes_;
    std::ranges::sort(sorted);
    return sorted;
  }
  // Until that is among its faults.
  void wait_for_fault(const std::string& words) {
    for (int i = 0; i < 1000 && faults().find(words) == std::string::npos; ++i) std::this_thread::sleep_for(10ms);
  }
  // Until another process than that is there.
  void wait_for_another(pid_t process) {
    for (int i = 0; i < 1000 && (verifier_.child() == process || verifier_.child() <= 0); ++i) {
      std::this_thread::sleep_for(10ms);
    }
  }

 private:
  void note(std::string word) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(std::move(word));
  }

  std::mutex mutex_;
  std::string faults_;
  std::vector<std::string> notes_;
  std::atomic<int> waits_ = 0;
  ChildVerifier verifier_;
};

TEST_CASE("the child's results are those of the library") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  WithChild verifier;
  CHECK_FALSE((*verifier).description().empty());
  CHECK(outcome(*verifier, message.header, message.body) == "pass");
  CHECK(outcome(*verifier, message.header, "Hullo.\r\n") == "body-changed");
  CHECK(outcome(*verifier, kHeader, kBody) == "no-signature");
  const test::SignedMessage large = test::sign(kHeader, std::string(3'000'000 / 8, '\n').replace(0, 8, kBody) + kBody);
  CHECK(outcome(*verifier, large.header, large.body) == "pass");
  CHECK(verifier.faults().empty());
}

TEST_CASE("a crash of the child fails its own messages only, and the child is started again") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  WithChild verifier;
  const auto under_way = begun(*verifier, message.header);
  under_way->add_body(message.body);
  const pid_t crashed = (*verifier).child();
  REQUIRE(kill(crashed, SIGKILL) == 0);
  CHECK(outcome_of(under_way->finish()) == "verifier-failed");
  verifier.wait_for_another(crashed);
  CHECK(outcome(*verifier, message.header, message.body) == "pass");
  CHECK_THAT(verifier.faults(), Catch::Contains("signal 9"));
}

TEST_CASE("a child that hangs is killed after its time, and started again") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  WithChild verifier(3s);
  const pid_t stopped = (*verifier).child();
  REQUIRE(kill(stopped, SIGSTOP) == 0);
  CHECK(outcome(*verifier, message.header, message.body) == "verifier-timeout");
  verifier.wait_for_another(stopped);
  CHECK(outcome(*verifier, message.header, message.body) == "pass");
  CHECK_THAT(verifier.faults(), Catch::Contains("signal 9"));
}

TEST_CASE("if a hanging child does not read a body, the wait ends, and the hook for waits is called before it") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  WithChild verifier(1s);
  REQUIRE(kill((*verifier).child(), SIGSTOP) == 0);
  CHECK(outcome(*verifier, message.header, std::string(4'000'000, '\n')) == "verifier-timeout");
  CHECK(verifier.waits() > 0);
}

TEST_CASE("the child reports which keys it has looked up, and that the name servers fail, until it ends") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  WithChild verifier;
  CHECK(outcome(*verifier, message.header, message.body) == "pass");
  CHECK(verifier.notes(1) == std::vector<std::string>{"found"});
  ChildVerifier::Options options = options_with(20s);
  options.resolver = {.servers = {"127.0.0.1@9"}};  // the port refuses
  WithChild other(options);
  CHECK(outcome(*other, message.header, message.body) == "name-server-failed");
  CHECK(other.notes(2) == std::vector<std::string>{"failing", "not-asked"});
  REQUIRE(kill((*other).child(), SIGKILL) == 0);
  CHECK(other.notes(3) == std::vector<std::string>{"failing", "not-asked", "working"});
}

TEST_CASE("a child that cannot work with its options says why") {
  ChildVerifier::Options options = options_with();
  options.resolver.trust_anchor_file = "/nowhere/root.key";
  CHECK_THROWS_WITH(WithChild(options), Catch::Contains("/nowhere/root.key"));
}

TEST_CASE("a body above the limit is not sent to the child") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  ChildVerifier::Options options = options_with();
  options.rules.max_body_bytes = kBody.size();
  WithChild verifier(options);
  CHECK(outcome(*verifier, message.header, message.body) == "pass");
  const auto verification = begun(*verifier, message.header);
  CHECK(verification->add_body(kBody));
  CHECK_FALSE(verification->add_body("x"));
  CHECK(outcome_of(verification->finish()) == "body-too-large");
}

#ifndef __SANITIZE_ADDRESS__  // See NoDescriptors.
TEST_CASE(
    "without descriptors a message is not verified and a crashed child is not started, until there are some again") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  WithChild verifier;
  const pid_t crashed = (*verifier).child();
  {
    const test::NoDescriptors none;
    CHECK(outcome(*verifier, message.header, message.body) == "verifier-failed");
    REQUIRE(kill(crashed, SIGKILL) == 0);
    verifier.wait_for_fault("cannot make a pair of sockets");
    CHECK(outcome(*verifier, message.header, message.body) == "verifier-failed");
  }
  verifier.wait_for_another(crashed);
  CHECK(outcome(*verifier, message.header, message.body) == "pass");
}
#endif

std::size_t lines_with(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

TEST_CASE("a child that cannot be started is reported once, and tried again each second until it starts") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  const TemporaryFolder folder;
  const std::filesystem::path program = folder.path() / "program";
  std::filesystem::create_symlink(test::milter_program(), program);
  ChildVerifier::Options options = options_with();
  options.program = program;
  WithChild verifier(options);
  const pid_t crashed = (*verifier).child();

  // In its place: a program that ends at once, and says each time that it was started.
  const std::filesystem::path starts = folder.path() / "starts";
  std::filesystem::remove(program);
  std::ofstream(program) << "#!/bin/sh\necho >>" << starts.string() << "\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  REQUIRE(kill(crashed, SIGKILL) == 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto has_been_tried_again = [&] {
    std::error_code none_yet;
    return std::filesystem::file_size(starts, none_yet) >= 3 && !none_yet;
  };
  for (int i = 0; i < 1000 && !has_been_tried_again(); ++i) std::this_thread::sleep_for(10ms);
  REQUIRE(has_been_tried_again());
  CHECK(std::chrono::steady_clock::now() - begin >= 2s);
  CHECK(outcome(*verifier, message.header, message.body) == "verifier-failed");
  CHECK(lines_with(verifier.faults(), "the verifier of signatures does not start") == 1);

  std::filesystem::remove(program);
  std::filesystem::create_symlink(test::milter_program(), program);
  verifier.wait_for_another(crashed);
  CHECK(outcome(*verifier, message.header, message.body) == "pass");
}

TEST_CASE("the child verifies 512 messages at once, and no more") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  WithChild verifier(30s);
  // More than the socket holds, so that the child has begun with the message.
  std::string body;
  while (body.size() < std::size_t{3} << 17) body += std::string(70, 'x') + "\r\n";
  std::vector<std::unique_ptr<Verification>> all;
  for (std::size_t i = 0; i < LibraryVerifier::kMaxAtOnce; ++i) {
    all.push_back(begun(*verifier, message.header));
    REQUIRE(all.back()->add_body(body));
  }
  CHECK(outcome(*verifier, message.header, message.body) == "too-busy");
  CHECK(outcome_of(all.back()->finish()) == "body-changed");
  // The child answers before it gives the place up.
  std::string next = "too-busy";
  for (int i = 0; i < 1000 && next == "too-busy"; ++i) next = outcome(*verifier, message.header, message.body);
  CHECK(next == "pass");
  CHECK(verifier.faults().empty());
}

TEST_CASE("many threads verify at once") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  WithChild verifier;
  std::atomic<int> passed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) {
        if (outcome(*verifier, message.header, message.body) == "pass") ++passed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(passed == 160);
}

}  // namespace
}  // namespace bloomgate
