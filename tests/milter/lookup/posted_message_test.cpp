#include "milter/lookup/posted_message.hpp"

#include <utility>

#include "filter/base/error.hpp"
#include "milter/lookup/bearer_token.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

std::optional<PostedEnvelope> envelope_of(const HttpFields& fields) {
  std::string fault;
  auto made = posted_envelope(fields, fault);
  CHECK(made.has_value() == fault.empty());
  return made;
}

TEST_CASE("the envelope of a posted message is in fields of its request") {
  const auto made = envelope_of({{"Host", "localhost"},
                                 {"Envelope-From", "joe+tag@example.org"},
                                 {"envelope-to", "ann@ours.example"},
                                 {"Envelope-To", "<\"a > b\"@ours.example>"},
                                 {"Client", "2001:db8::1"},
                                 {"Helo", "mx.example.org"},
                                 {"Auth-Login", "ann"},
                                 {"Daemon-Name", "smtpd"},
                                 {"Mta-Name", "mx.ours.example"},
                                 {"Queue-Id", "4XyZ1"},
                                 {"Content-Length", "7"}});
  REQUIRE(made);
  CHECK(made->from == "<joe+tag@example.org>");
  CHECK(made->to == std::vector<std::string>{"<ann@ours.example>", "<\"a > b\"@ours.example>"});
  CHECK(made->client == parse_ip_address("2001:db8::1"));
  CHECK(made->helo == "mx.example.org");
  CHECK(made->login == "ann");
  CHECK(made->daemon_name == "smtpd");
  CHECK(made->mta_name == "mx.ours.example");
  CHECK(made->queue_id == "4XyZ1");
}

TEST_CASE("a posted message may have the null sender and unknown recipients") {
  for (const std::string_view from : {"", "<>"}) {
    INFO(from);
    const auto made = envelope_of({{"Envelope-From", from}});
    REQUIRE(made);
    CHECK(made->from == "<>");
    CHECK(made->to.empty());
    CHECK_FALSE(made->client);
  }
}

TEST_CASE("an address cannot add anything else to the envelope of a posted message") {
  // As a stranger may write them.
  for (const std::string_view from : {"x&auth-login=y@example.org", "x%40example.org", "a=b?c#d@example.org"}) {
    INFO(from);
    const auto made = envelope_of({{"Envelope-From", from}});
    REQUIRE(made);
    CHECK(made->from == '<' + std::string(from) + '>');
    CHECK(made->login.empty());
  }
}

TEST_CASE("ambiguous fields for the envelope of a posted message are refused, and named") {
  const std::string long_path(600, 'a'), long_name(2000, 'a');
  const HttpFields refused[] = {
      {},
      {{"Envelope-To", "ann@ours.example"}},
      {{"Envelope-From", "a@b.example"}, {"envelope-from", "c@d.example"}},
      {{"Envelope-From", "<a@b.example"}},
      {{"Envelope-From", "a@b.example> <c@d.example"}},
      {{"Envelope-From", "<a@b.example> SIZE=1"}},
      {{"Envelope-From", "\"a@b.example"}},
      {{"Envelope-From", "a@b.example\tx"}},
      {{"Envelope-From", long_path}},
      {{"Envelope-From", "a@b.example"}, {"Envelope-To", ""}},
      {{"Envelope-From", "a@b.example"}, {"Envelope-To", "b@ours.example ann@ours.example"}},
      {{"Envelope-From", "a@b.example"}, {"Client", "mx.example.org"}},
      {{"Envelope-From", "a@b.example"}, {"Client", ""}},
      {{"Envelope-From", "a@b.example"}, {"Client", "192.0.2.1"}, {"Client", "192.0.2.2"}},
      {{"Envelope-From", "a@b.example"}, {"Helo", "x"}, {"Helo", "y"}},
      {{"Envelope-From", "a@b.example"}, {"Auth-Login", "x\x01"}},
      {{"Envelope-From", "a@b.example"}, {"Mta-Name", long_name}},
  };
  for (const HttpFields& fields : refused) {
    std::string fault;
    CHECK_FALSE(posted_envelope(fields, fault));
    INFO((fields.empty() ? "" : fields.back().first) << ": " << fault);
    CHECK(fault.find(": ") != std::string::npos);
  }
  // A path of 512 bytes is valid; the refusal of a longer one says so.
  CHECK(envelope_of({{"Envelope-From", long_path.substr(0, 512)}, {"Envelope-To", long_path.substr(0, 512)}}));
  for (const HttpFields& fields : {HttpFields{{"Envelope-From", long_path.substr(0, 513)}},
                                   HttpFields{{"Envelope-From", ""}, {"Envelope-To", long_path.substr(0, 513)}}}) {
    std::string fault;
    CHECK_FALSE(posted_envelope(fields, fault));
    CHECK(fault == std::string(fields.back().first) + ": it is longer than 512 bytes");
  }
  HttpFields many = {{"Envelope-From", "a@b.example"}};
  for (std::size_t i = 0; i < kMaxPostedRecipients; ++i) many.emplace_back("Envelope-To", "x@y.example");
  CHECK(envelope_of(many));
  many.emplace_back("Envelope-To", "x@y.example");
  CHECK_FALSE(envelope_of(many));
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
  // A space before the colon of the first field, as of any other field.
  CHECK(split_posted("From : joe@example.org\n\n").fields == std::vector<HeaderField>{{"From ", " joe@example.org"}});
  CHECK(split_posted("\r\nBody").body == "Body");
  // What the body has for line ends is its own.
  CHECK(split_posted("A: b\r\n\r\nx\ny\r\n").fault.empty());
}

TEST_CASE("a posted message whose header two programs could read differently is not decided") {
  std::string many_fields;
  for (std::size_t i = 0; i <= kMaxPostedFields; ++i) many_fields += "a:\n";
  many_fields += "\n";
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
      {"A: " + std::string(kMaxPostedHeaderBytes, 'x') + "\n\n", "longer than 1 MiB"},
      {"A: " + std::string(kMaxPostedHeaderBytes - 4, 'x') + "\n\nB: c\n\n", "longer than 1 MiB"},
      {many_fields, "more than 5000 fields"},
      // What some programs take for the end of a line, or of the header.
      {"A: b\rFrom: x@y.example\n\n", "CR that ends no line"},
      {"A: b\r\r\n Pay here.\r\nFrom: a@b.example\r\n\r\n", "CR that ends no line"},
      {"X-Bloomgate: b\rReply-To: x@y.example\r\n\r\n", "CR that ends no line"},
      {std::string("A: b\0c\n\n", 8), "control character"},
      {"A: b\fFrom: x@y.example\n\n", "control character"},
  };
  for (const auto& [text, want] : refused) {
    INFO(text.substr(0, 100));
    const PostedText made = split_posted(text);
    CHECK_THAT(std::string(made.fault), Contains(std::string(want)));
    CHECK(made.fields.empty());
    CHECK(made.body.empty());
  }
}

TEST_CASE("the field Authorization shows the token only if it has all of it") {
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

TEST_CASE("a file without a token, or one that every user may read, is refused with the remedy") {
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
