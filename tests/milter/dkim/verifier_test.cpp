// The verifier by libopendkim, with real signatures and records that libunbound has of its own.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "milter/dkim/library_verifier.hpp"
#include "tests/milter/dkim/signing.hpp"
#include "tests/milter/dkim/verifying.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using test::begun;
using test::kBody;
using test::kHeader;
using test::outcome;
using test::outcome_of;
using test::records;
using test::verified;

std::string txt(std::string_view name, std::string_view text) {
  return std::string(name) + ". 3600 IN TXT \"" + std::string(text) + "\"";
}

class InProcess {
 public:
  explicit InProcess(const ResolverOptions& options = records(), const VerifyRules& rules = {.dns_timeout = 30s})
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

TEST_CASE("a message that was changed on the way does not pass") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  InProcess verifier;
  CHECK(outcome(*verifier, message.header, "Hullo.\r\n") == "body-changed");
  std::vector<std::string> changed = message.header;
  changed.back() = "Subject: pay";
  CHECK(outcome(*verifier, changed, kBody) == "header-changed");
  changed = message.header;
  changed.insert(changed.begin(), "Subject: pay");
  CHECK(outcome(*verifier, changed, kBody) == "field-added-subject");
  CHECK(outcome(*verifier, kHeader, kBody) == "no-signature");
}

TEST_CASE("unsigned fields about the body must match the body") {
  InProcess verifier;
  const auto outcome_with = [&](const std::string& body, const std::string& unsigned_field) {
    std::vector<std::string> header = kHeader;
    header.push_back("MIME-Version: 1.0");
    test::SignedMessage message = test::sign(header, body);
    message.header.push_back(unsigned_field);
    return outcome(*verifier, message.header, message.body);
  };
  const std::string parts = "--b\r\n\r\nHello.\r\n--c\r\n\r\nPay.\r\n--c--\r\n--b--\r\n";
  CHECK(outcome_with(parts, "Content-Type: multipart/mixed; boundary=b") == "pass");
  CHECK(outcome_with(parts, "Content-Type: multipart/mixed; boundary=c") == "field-added-content-type");
  CHECK(outcome_with(parts, "Content-Type: text/html") == "field-added-content-type");
  const std::string bounce =
      "--b\r\n\r\nNot delivered.\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nPay.\r\n--b--\r\n";
  CHECK(outcome_with(bounce, "Content-Type: multipart/mixed; boundary=b") == "field-added-content-type");
  CHECK(outcome_with(bounce, "Content-Type: text/plain") == "field-added-content-type");
  CHECK(outcome_with(bounce, "X-No: Content-Type") == "field-added-content-type");  // it was removed
  CHECK(outcome_with("SGVsbG8u\r\n", "Content-Transfer-Encoding: base64") == "pass");
  CHECK(outcome_with(parts, "Content-Transfer-Encoding: base64") == "field-added-content-transfer-encoding");
}

TEST_CASE("each fault of a key has its own outcome") {
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
      {{txt(name, "v=DKIM1; t=s; " + text.substr(8))}, "pass"},
      {{txt(name, "v=DKIM1; t=y; " + text.substr(8))}, "key-in-test-mode"},
      {{txt(name, "v=DKIM1; p=; " + text.substr(8))}, "key-malformed"},
      {{txt(name, text.substr(9) + "; v=DKIM1")}, "key-malformed"},
      {{txt(name, "v=DKIM1; k=ed25519; " + text.substr(8))}, "key-not-for-this"},
      {{txt(name,
            "v=DKIM1; p=MIGJAoGBAMLscGig9StGw9QBUairvZZf46c3OHm7w/QnoZ5RCc8w6q4doL1o5bul6QdlHrAVkYyvHGjVVc+Rlt3kGLokw"
            "57MQCfPyu7TRnE7h7U8uGbNJ4k8PUT+EmvaDwe/i6V6oxlNFjcYKQIVL1urfgXxhU9yQrCxbVXOULSPLVOCJndjAgMBAAE=")},
       "pass"},
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

TEST_CASE("a body without a line end at its end is verified as if it had one") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  InProcess verifier;
  CHECK(outcome(*verifier, message.header, kBody.substr(0, kBody.size() - 2)) == "pass");
  CHECK(outcome(*verifier, message.header, kBody.substr(0, kBody.size() - 1)) == "body-changed");
  const auto verification = begun(*verifier, message.header);
  for (const char byte : kBody) verification->add_body({&byte, 1});
  CHECK(outcome_of(verification->finish()) == "pass");
}

// Signed by python3-dkim with the key of signing.cpp, and white space put between `b` and `=` before that.
TEST_CASE("a signature with white space before its equals sign is verified") {
  const std::vector<std::string> fields = {"From: joe@example.org", "To: ann@example.net", "Subject:  test\r\n\tof it"};
  const std::string of_relaxed =
      "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.org;\r\n"
      " i=@example.org; q=dns/txt; s=s1; t=1700000000; h=from : to : subject;\r\n"
      " bh=yZQq1c8wjBl0fZ4Wc/oraMCAG1mZJv5v/hlvyFy+t6A=; b\r\n"
      " =KvXYoO9sEnvnQIgtD6NFTHANIc2ePS4J366Q2IQVwRWNc78475kEOyGsaFH8YOfXLlqgwB\r\n"
      " sWxpNgNwL3gTYRFQbgZ/NKGOgBvxYR1YhQvv1Ww4wdqaX9gnB9glU0TI8mG7wj7JTT5XcZr\r\n"
      " ImCmMgGQuwaIzEwHM8MjIoR6PEZJ2M=";
  const std::string of_simple =
      "DKIM-Signature: v=1; a=rsa-sha256; c=simple/simple; d=example.org;\r\n"
      " i=@example.org; q=dns/txt; s=s1; t=1700000000; h=from : to : subject;\r\n"
      " bh=yZQq1c8wjBl0fZ4Wc/oraMCAG1mZJv5v/hlvyFy+t6A=; b\r\n"
      " =Txzch75W9mR+OrreIU66kxp+bVi6JMtQWH4COjah+QU6EK3gLh4QSMMW8XNQ3G1GPTeV0V\r\n"
      " SyYksKGXbR+WdH+7JIreV/e4hLCCh0wEkvDwglgMBoLABRBKfiWYIbySos8ER4MAp3mPq3c\r\n"
      " WEmFsELEXUVUrTSf1Oi13WJLgR6IKc=";
  InProcess verifier(records(), {.cover = {.max_age = std::chrono::days(36'500)}, .dns_timeout = 30s});
  for (const std::string& signature : {of_relaxed, of_simple}) {
    std::vector<std::string> header = fields;
    header.push_back(signature);
    CHECK(outcome(*verifier, header, kBody) == "pass");
    header.insert(header.begin(), "DKIM-Signature: " + std::string("v=1; d=other.example; b=x"));
    CHECK(outcome(*verifier, header, kBody) == "pass");
    CHECK(outcome(*verifier, header, "Hullo.\r\n") == "body-changed");
    header[1] = "From: ann@example.org";
    CHECK(outcome(*verifier, header, kBody) == "header-changed");
    header[1] = fields[0];
    header[3] = "Subject: test of it!";
    CHECK(outcome(*verifier, header, kBody) == "header-changed");
    header[3] = "Subject: test \t of it";
    CHECK(outcome(*verifier, header, kBody) == (signature == of_relaxed ? "pass" : "header-changed"));
  }
}

TEST_CASE("a key that does not arrive in time ends the wait") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  // A port at which nothing answers.
  InProcess verifier({.servers = {"192.0.2.1@9"}}, {.dns_timeout = 200ms});
  const auto start = std::chrono::steady_clock::now();
  const std::string found = outcome(*verifier, message.header, message.body);
  CHECK((found == "name-timeout" || found == "name-server-failed"));  // the second where no network is
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("a body above the limit is reported, and the rest of it is skipped") {
  CHECK(VerifyRules{}.max_body_bytes == std::uint64_t{1} << 30);
  const test::SignedMessage message = test::sign(kHeader, kBody);
  InProcess enough(records(), {.dns_timeout = 30s, .max_body_bytes = kBody.size()});
  CHECK(outcome(*enough, message.header, message.body) == "pass");
  InProcess too_little(records(), {.dns_timeout = 30s, .max_body_bytes = kBody.size() - 1});
  const auto verification = begun(*too_little, message.header);
  CHECK(verification->add_body(kBody.substr(0, kBody.size() - 1)));
  CHECK_FALSE(verification->add_body(kBody.substr(kBody.size() - 1)));
  CHECK(verification->is_over());
  CHECK(outcome_of(verification->finish()) == "body-too-large");
}

TEST_CASE("a line above the limit is reported, and the rest of the body is skipped") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  InProcess verifier;
  CHECK(outcome(*verifier, message.header, std::string(kMaxVerifiedLineBytes + 1, 'x') + "\r\n") == "line-too-long");
}

TEST_CASE("more messages at once than the limit are refused with a reason, and their memory is released") {
  const test::SignedMessage message = test::sign(kHeader, kBody);
  InProcess verifier;
  std::vector<std::unique_ptr<Verification>> all;
  for (std::size_t i = 0; i < LibraryVerifier::kMaxAtOnce; ++i) all.push_back(begun(*verifier, message.header));
  CHECK(outcome(*verifier, message.header, message.body) == "too-busy");
  all.clear();
  CHECK(outcome(*verifier, message.header, message.body) == "pass");
}

}  // namespace
}  // namespace bloomgate
