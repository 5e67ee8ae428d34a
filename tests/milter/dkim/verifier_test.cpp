// The two verifiers, with real signatures and records that libunbound has of its own.
#include <signal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "filter/base/error.hpp"
#include "milter/dkim/child_verifier.hpp"
#include "milter/dkim/library_verifier.hpp"
#include "tests/milter/dkim/signing.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using Outcome = SignatureOutcome;

const std::vector<std::string> kHeader = {"From: joe@example.org", "To: ann@example.net", "Subject: test"};
const std::string kBody = "Hello.\r\n";

std::string txt(std::string_view name, std::string_view text) {
  return std::string(name) + ". 3600 IN TXT \"" + std::string(text) + "\"";
}

// Nobody is asked for a name: what is not among the records does not exist.
ResolverOptions records(const std::vector<std::string>& own = {test::kKeyRecord}) {
  ResolverOptions options = {.servers = {"127.0.0.1@9"}};
  options.records = own;
  return options;
}

Signatures verified(Verifier& verifier, const std::vector<std::string>& fields, const std::string& body) {
  const std::vector<std::string_view> header(fields.begin(), fields.end());
  VerifyRequest request = {.header = header};
  request.need.domains[0].append("example.org");
  const auto verification = verifier.begin(request);
  for (std::size_t at = 0; at < body.size(); at += 10'000) verification->add_body(body.substr(at, 10'000));
  return verification->finish();
}

std::string outcome_of(const Signatures& signatures) {
  return std::string(signature_outcome_name(signatures.outcome_for("example.org", Alignment::relaxed)));
}

std::string outcome(Verifier& verifier, const std::vector<std::string>& fields, const std::string& body) {
  return outcome_of(verified(verifier, fields, body));
}

class InProcess {
 public:
  explicit InProcess(const ResolverOptions& options = records(), const VerifyRules& rules = {.dns_timeout = 300ms})
      : resolver_(options), verifier_(rules, resolver_) {}

  Verifier& operator*() noexcept { return verifier_; }

 private:
  Resolver resolver_;
  LibraryVerifier verifier_;
};

TEST_CASE("a good signature passes, with its selector, key and time") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  InProcess verifier;
  const Signatures found = verified(*verifier, message.header, message.body);
  REQUIRE(found.all.size() == 1);
  CHECK(outcome_of(found) == "pass");
  CHECK(found.all[0].domain == "example.org");
  CHECK(found.all[0].selector == "s1");
  CHECK(found.all[0].key_bits == 1024);
  CHECK_FALSE(found.all[0].has_secure_key);
}

TEST_CASE("what was changed on the way does not pass") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  InProcess verifier;
  CHECK(outcome(*verifier, message.header, "Hullo.\r\n") == "body-changed");
  std::vector<std::string> changed = message.header;
  changed.back() = "Subject: pay";
  CHECK(outcome(*verifier, changed, kBody) == "header-changed");
  changed = message.header;
  changed.insert(changed.begin(), "Subject: pay");
  CHECK(outcome(*verifier, changed, kBody) == "field-added");
  CHECK(outcome(*verifier, kHeader, kBody) == "no-signature");
}

TEST_CASE("each thing that can be wrong with a key has its word") {
  const std::string name = "s1._domainkey.example.org";
  const std::string key(test::kKeyRecord);
  const std::string text = key.substr(key.find('"') + 1, key.rfind('"') - key.find('"') - 1);
  struct Case {
    std::vector<std::string> records;
    std::string_view want;
  };
  std::string long_key = name + ". 3600 IN TXT \"v=DKIM1; p=\"";
  for (int i = 0; i < 8; ++i) long_key += " \"" + std::string(200, 'A') + "\"";
  const Case cases[] = {
      {{txt(name, text)}, "pass"},
      {{txt(name, "v=DKIM1; t=y; " + text.substr(8))}, "pass"},
      {{name + ". 3600 IN A 192.0.2.1"}, "key-not-found"},
      {{txt(name, text), txt(name, "v=DKIM1; p=QUJD")}, "several-keys"},
      {{txt(name, "v=DKIM1; p=")}, "key-revoked"},
      {{txt(name, "v=DKIM1; p=QUJDREVGRw==")}, "key-malformed"},
      {{txt(name, "v=spf1 -all")}, "key-malformed"},
      {{txt(name, "v=DKIM1; h=sha1; " + text.substr(8))}, "key-not-for-this"},
      {{txt(name, "v=DKIM1; s=tlsrpt; " + text.substr(8))}, "key-not-for-this"},
      {{long_key}, "key-too-long"},
  };
  const test::SignedMessage message = test::sign(kHeader, kBody);
  for (const Case& c : cases) {
    INFO(c.records.front());
    InProcess verifier(records(c.records));
    CHECK(outcome(*verifier, message.header, message.body) == c.want);
  }
}

TEST_CASE("a key that does not come in time is not waited for any longer") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  // A port at which nothing answers.
  InProcess verifier({.servers = {"192.0.2.1@9"}}, {.dns_timeout = 200ms});
  const auto start = std::chrono::steady_clock::now();
  const std::string found = outcome(*verifier, message.header, message.body);
  CHECK((found == "name-timeout" || found == "name-server-failed"));  // the second where no network is
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("a line longer than is verified is told, and the rest is not wanted") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  InProcess verifier;
  CHECK(outcome(*verifier, message.header, std::string(kMaxVerifiedLineBytes + 1, 'x') + "\r\n") == "line-too-long");
}

TEST_CASE("more messages at once than are verified are told so, and memory comes back") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  InProcess verifier;
  const std::vector<std::string_view> header(message.header.begin(), message.header.end());
  VerifyRequest request = {.header = header};
  request.need.domains[0].append("example.org");
  std::vector<std::unique_ptr<Verification>> all;
  for (std::size_t i = 0; i < LibraryVerifier::kMaxAtOnce; ++i) all.push_back((*verifier).begin(request));
  CHECK(outcome(*verifier, message.header, message.body) == "too-busy");
  all.clear();
  CHECK(outcome(*verifier, message.header, message.body) == "pass");
}

// The child of the real program, and what it is told of its faults.
class WithChild {
 public:
  explicit WithChild(ResolverOptions resolver = records(), std::chrono::milliseconds patience = 5s)
      : verifier_({.rules = {.dns_timeout = 300ms},
                   .resolver = std::move(resolver),
                   .patience = patience,
                   .program = BLOOMGATE_MILTER_PROGRAM},
                  {.on_fault =
                       [this](const std::string& what) {
                         const std::lock_guard lock(mutex_);
                         faults_ += what + "\n";
                       },
                   .before_waiting = [this] { ++waits_; }}) {}

  ChildVerifier& operator*() noexcept { return verifier_; }
  int waits() const noexcept { return waits_; }
  std::string faults() {
    const std::lock_guard lock(mutex_);
    return faults_;
  }
  // Until another process than that is there.
  void wait_for_another(pid_t process) {
    for (int i = 0; i < 1000 && (verifier_.child() == process || verifier_.child() < 0); ++i) {
      std::this_thread::sleep_for(10ms);
    }
  }

 private:
  std::mutex mutex_;
  std::string faults_;
  std::atomic<int> waits_ = 0;
  ChildVerifier verifier_;
};

TEST_CASE("the child finds what the library finds") {
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

TEST_CASE("a child that crashes takes its messages along and nothing else, and is started again") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  WithChild verifier;
  const std::vector<std::string_view> header(message.header.begin(), message.header.end());
  VerifyRequest request = {.header = header};
  request.need.domains[0].append("example.org");
  const auto under_way = (*verifier).begin(request);
  under_way->add_body(message.body);
  const pid_t crashed = (*verifier).child();
  REQUIRE(kill(crashed, SIGKILL) == 0);
  CHECK(outcome_of(under_way->finish()) == "verifier-failed");
  verifier.wait_for_another(crashed);
  CHECK(outcome(*verifier, message.header, message.body) == "pass");
  CHECK_THAT(verifier.faults(), Catch::Contains("signal 9"));
}

TEST_CASE("a child that hangs is ended after its time, and started again") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  WithChild verifier(records(), 300ms);
  const pid_t stopped = (*verifier).child();
  REQUIRE(kill(stopped, SIGSTOP) == 0);
  CHECK(outcome(*verifier, message.header, message.body) == "verifier-timeout");
  verifier.wait_for_another(stopped);
  CHECK(outcome(*verifier, message.header, message.body) == "pass");
  CHECK_THAT(verifier.faults(), Catch::Contains("signal 9"));
}

TEST_CASE("a body that a hanging child does not take ends the wait, too, and others are told of the wait before") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  WithChild verifier(records(), 300ms);
  REQUIRE(kill((*verifier).child(), SIGSTOP) == 0);
  CHECK(outcome(*verifier, message.header, std::string(4'000'000, '\n')) == "verifier-timeout");
  CHECK(verifier.waits() > 0);
}

TEST_CASE("a child that cannot work with its options says why") {
  ResolverOptions options = records();
  options.trust_anchor_file = "/nowhere/root.key";
  CHECK_THROWS_WITH(WithChild(options), Catch::Contains("/nowhere/root.key"));
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
