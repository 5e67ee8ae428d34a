#include "milter/lookup/posted_message.hpp"

#include <utility>

#include "filter/base/error.hpp"
#include "milter/lookup/bearer_token.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("the envelope of a posted message is in its query, by the names of --explain") {
  const auto made = posted_envelope(
      "from=joe%2Btag@example.org&to=ann@ours.example&to=%3Ctom@ours.example%3E&client=2001:db8::1&helo=mx.example.org&"
      "auth-login=ann&daemon-name=smtpd&mta-name=mx.ours.example&queue-id=4XyZ1");
  REQUIRE(made);
  CHECK(made->from == "<joe+tag@example.org>");
  CHECK(made->to == std::vector<std::string>{"<ann@ours.example>", "<tom@ours.example>"});
  CHECK(made->client == parse_ip_address("2001:db8::1"));
  CHECK(made->helo == "mx.example.org");
  CHECK(made->login == "ann");
  CHECK(made->daemon_name == "smtpd");
  CHECK(made->mta_name == "mx.ours.example");
  CHECK(made->queue_id == "4XyZ1");
}

TEST_CASE("a posted message may be of the null sender, and for recipients who are not known") {
  for (const std::string_view query : {"from=", "from=%3C%3E", "from=<>"}) {
    INFO(query);
    const auto made = posted_envelope(query);
    REQUIRE(made);
    CHECK(made->from == "<>");
    CHECK(made->to.empty());
    CHECK_FALSE(made->client);
  }
}

TEST_CASE("a query that leaves a doubt about the envelope of a posted message is refused") {
  const std::string_view refused[] = {
      "",                                   // no sender
      "to=ann@ours.example",                // no sender either
      "from=a@b.example&from=c@d.example",  // two senders
      "from=a@b.example&sender=c@d.example",
      "from=a@b.example&to=%0d%0a",
      "from=a@b.example%00",
      "from=a@b.example&to=%4",
      "from=<a@b.example",
      "from=a@b.example&client=mx.example.org",
      "from=a@b.example&client=",
      "from=a@b.example&helo=x&helo=y",
      "FROM=a@b.example",
      "from=a@b.example&&to=x@y.example",
  };
  for (const std::string_view query : refused) {
    INFO(query);
    CHECK_FALSE(posted_envelope(query));
  }
  std::string many = "from=a@b.example";
  for (std::size_t i = 0; i < kMaxPostedRecipients; ++i) many += "&to=x@y.example";
  CHECK(posted_envelope(many));
  CHECK_FALSE(posted_envelope(many + "&to=x@y.example"));
  CHECK_FALSE(posted_envelope("from=" + std::string(2000, 'a')));
}

TEST_CASE("the header of a posted message is cut into fields, and its body follows the empty line") {
  for (const std::string_view end : {"\n", "\r\n"}) {
    const std::string e(end);
    const std::string text = "From: joe@example.org" + e + "Subject : it is" + e + "\tfolded" + e + e + "Body" + e;
    const PostedText made = split_posted(text);
    CHECK(made.fault.empty());
    CHECK(made.fields == std::vector<HeaderField>{{"From", " joe@example.org"}, {"Subject ", " it is\n\tfolded"}});
    CHECK(made.body == "Body" + e);
  }
  CHECK(split_posted("\r\nBody").body == "Body");
  // A carriage return alone ends no line; the recorder calls such a field ambiguous.
  CHECK(split_posted("A: b\rFrom: x@y.example\n\n").fields.size() == 1);
  // What the body has for line ends is its own.
  CHECK(split_posted("A: b\r\n\r\nx\ny\r\n").fault.empty());
}

TEST_CASE("a posted message whose header two programs could read differently is not decided") {
  const std::pair<std::string, std::string_view> refused[] = {
      {"", "no end"},
      {"From: a@b.example", "no end"},
      {"From: a@b.example\n", "no end"},
      {"From: a@b.example\nno field\nFrom: c@d.example\n\n", "no field"},
      {"From: a@b.example\n: empty\n\n", "no field"},
      {"From: a@b.example\nSub ject: x\n\n", "no field"},
      {" folded\nFrom: a@b.example\n\n", "folded"},
      {"From joe Sat Nov 21 10:00:00 2026\nFrom: a@b.example\n\n", "mailbox file"},
      {"From: a@b.example\r\nSubject: x\nTo: y\r\n\r\n", "LF alone"},
      {"From: a@b.example\nSubject: x\r\n\n", "LF alone"},
      {"From: a@b.example\r\n\nBody", "LF alone"},
      {"A: " + std::string(kMaxMessageHeaderBytes, 'x') + "\n\n", "too long"},
  };
  for (const auto& [text, want] : refused) {
    INFO(text.substr(0, 100));
    const PostedText made = split_posted(text);
    CHECK_THAT(std::string(made.fault), Contains(std::string(want)));
    CHECK(made.fields.empty());
    CHECK(made.body.empty());
  }
}

TEST_CASE("a token is shown by the field Authorization, whole") {
  const TemporaryFolder folder;
  const std::string path = folder.file("token");
  const std::string text = "abcdefghij-._~+/=0123456789";
  write_file(path, "# for the mail program\n\n" + text + "\n");
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  const BearerToken token = BearerToken::read_from(path);
  CHECK(token.is_shown_by("Bearer " + text));
  CHECK(token.is_shown_by("bearer  " + text + " "));
  for (const std::string& other :
       {std::string(), std::string("Bearer"), std::string("Bearer "), text, "Basic " + text, "Bearer " + text + "x",
        "Bearer " + text.substr(1), "Bearer x" + text.substr(1), "Bearer," + text}) {
    INFO(other);
    CHECK_FALSE(token.is_shown_by(other));
  }
}

TEST_CASE("a file without a token, or one that everybody may read, is refused with what to do") {
  const TemporaryFolder folder;
  const std::string path = folder.file("token");
  for (const std::string& text :
       {std::string(), std::string("short\n"), std::string(501, 'a'), std::string("abcdefghijklmnopqrst uvw\n"),
        std::string("abcdefghijklmnopqrst\nother\n"), std::string("abcdefghijklmnopqrst\r\n")}) {
    INFO(text.substr(0, 40));
    write_file(path, text);
    const BloomgateError error = error_of([&] { BearerToken::read_from(path); });
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK_THAT(error.what(), Contains("openssl rand -base64 24") && !Contains("abcdef"));
  }
  write_file(path, "abcdefghijklmnopqrst\n");
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  CHECK(error_of([&] { BearerToken::read_from(path); }).code() == ErrorCode::not_permitted);
  CHECK(error_of([&] { BearerToken::read_from(folder.file("none")); }).code() == ErrorCode::cannot_open);
}

}  // namespace
}  // namespace bloomgate::test
