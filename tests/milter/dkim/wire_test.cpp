#include "milter/dkim/wire.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

Signatures some_signatures() {
  return {.all = {{.outcome = SignatureOutcome::pass,
                   .domain = "example.org",
                   .selector = "s1",
                   .key_bits = 2048,
                   .key_milliseconds = 12.5,
                   .has_secure_key = true},
                  {.outcome = SignatureOutcome::verifier_timeout, .domain = "news.example.org"}},
          .fault = SignatureOutcome::too_busy,
          .owner_rules = {{"example.org", "news.example.org", SignatureOutcome::pass},
                          {"example.net", "news.example.net", SignatureOutcome::other_domain_not_allowed}}};
}

TEST_CASE("messages between daemon and child are read as they were written") {
  const std::vector<std::string_view> header = {"From: joe@example.org", "", "Subject:\r\n\tx"};
  VerifyRequest request = {
      .header = header, .need = {}, .now = std::chrono::sys_seconds(std::chrono::seconds(1'000'000'000))};
  request.need.domains[1].append("example.org");
  const auto read = wire::decode_request(wire::encode(request));
  REQUIRE(read);
  CHECK(read->header == std::vector<std::string>(header.begin(), header.end()));
  CHECK(read->need == request.need);
  CHECK(read->now == request.now);

  CHECK(wire::decode_signatures(wire::encode(some_signatures())) == some_signatures());
  CHECK(wire::decode_signatures(wire::encode(Signatures{})) == Signatures{});

  WatchedFieldSet required;
  required.add(WatchedField::list_unsubscribe);
  const wire::ChildOptions options = {
      .rules = {.alignment = Alignment::strict,
                .cover = {.require_oversigned = true, .required = required, .max_age = std::chrono::days(3)},
                .dns_timeout = std::chrono::milliseconds(1500),
                .max_body_bytes = std::uint64_t{5} << 32},
      .resolver = {.servers = {"192.0.2.1@53"}, .trust_anchor_file = "/x", .records = {"a. TXT \"b\""}}};
  const auto read_options = wire::decode_options(wire::encode(options));
  REQUIRE(read_options);
  CHECK(read_options->rules.alignment == Alignment::strict);
  CHECK(read_options->rules.cover.require_oversigned);
  CHECK(read_options->rules.cover.required == required);
  CHECK(read_options->rules.cover.max_age == std::chrono::days(3));
  CHECK(read_options->rules.dns_timeout == options.rules.dns_timeout);
  CHECK(read_options->rules.max_body_bytes == options.rules.max_body_bytes);
  CHECK(read_options->resolver.servers == options.resolver.servers);
  CHECK(read_options->resolver.trust_anchor_file == "/x");
  CHECK(read_options->resolver.records == options.resolver.records);
}

TEST_CASE("a message between daemon and child that is cut off or too long is refused") {
  const std::string whole = wire::encode(some_signatures());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    CHECK_FALSE(wire::decode_signatures(whole.substr(0, size)));
  }
  CHECK_FALSE(wire::decode_signatures(whole + '\0'));
  const std::vector<std::string_view> header = {"From: joe@example.org"};
  const std::string request = wire::encode(VerifyRequest{.header = header});
  for (std::size_t size = 0; size < request.size(); ++size) CHECK_FALSE(wire::decode_request(request.substr(0, size)));
}

TEST_CASE("an invalid value in a message between daemon and child is refused") {
  std::string bytes = wire::encode(some_signatures());
  bytes[0] = '\x7f';  // an outcome
  CHECK_FALSE(wire::decode_signatures(bytes));
  bytes[0] = static_cast<char>(SignatureOutcome::pass);  // a signature can pass, the verification itself cannot
  CHECK_FALSE(wire::decode_signatures(bytes));
  bytes = wire::encode(some_signatures());
  bytes[1] = '\x7f';  // more signatures than can be
  CHECK_FALSE(wire::decode_signatures(bytes));
  Signatures long_domain = some_signatures();
  long_domain.all[0].domain = std::string(kMaxDomainBytes + 1, 'a');
  CHECK_FALSE(wire::decode_signatures(wire::encode(long_domain)));
  long_domain = some_signatures();
  long_domain.owner_rules[0].domain = std::string(kMaxDomainBytes + 1, 'a');
  CHECK_FALSE(wire::decode_signatures(wire::encode(long_domain)));
  long_domain = some_signatures();
  long_domain.owner_rules[0].signer = std::string(kMaxDomainBytes + 1, 'a');
  CHECK_FALSE(wire::decode_signatures(wire::encode(long_domain)));
  bytes = wire::encode(some_signatures());
  bytes.back() = '\x7f';  // an owner's rule
  CHECK_FALSE(wire::decode_signatures(bytes));
  Signatures more_rules = some_signatures();
  more_rules.owner_rules.resize(kMaxOwnerRules);
  CHECK(wire::decode_signatures(wire::encode(more_rules)));
  more_rules.owner_rules.resize(kMaxOwnerRules + 1);
  CHECK_FALSE(wire::decode_signatures(wire::encode(more_rules)));
}

TEST_CASE("a note of the child is read as it was written, and its text is cut off at the limit") {
  using wire::Note;
  const Note notes[] = {{.kind = Note::Kind::servers, .text = "from 192.0.2.53"},
                        {.kind = Note::Kind::failing},
                        {.kind = Note::Kind::working},
                        {.kind = Note::Kind::key, .status = TxtStatus::not_asked, .took = std::chrono::seconds(5)}};
  for (const Note& note : notes) {
    const std::string bytes = wire::encode(note);
    CHECK(wire::decode_note(bytes) == note);
    CHECK_FALSE(wire::decode_note(bytes + '\0'));
    for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(wire::decode_note(bytes.substr(0, size)));
    CHECK_FALSE(wire::decode_note("\x04" + bytes.substr(1)));
    CHECK_FALSE(wire::decode_note(bytes.substr(0, 1) + "\x09" + bytes.substr(2)));
  }
  const std::string longest = wire::encode(Note{.kind = Note::Kind::servers, .text = std::string(100'000, 'x')});
  CHECK(longest.size() <= wire::kMaxNoteBytes);
  CHECK(wire::decode_note(longest));
}

TEST_CASE("a count larger than its message allocates nothing") {
  std::string bytes(16, '\0');  // two empty domains, and a time
  bytes += "\xff\xff\xff\xff";
  CHECK_FALSE(wire::decode_request(bytes));
}

TEST_CASE("a message between daemon and child has a largest size") {
  const wire::Head head = {.kind = wire::Kind::body, .size = wire::kMaxPartBytes};
  const auto read = wire::read_head(wire::head_bytes(head));
  REQUIRE(read);
  CHECK(read->kind == wire::Kind::body);
  CHECK(read->size == wire::kMaxPartBytes);
  CHECK_FALSE(wire::read_head(wire::head_bytes({.kind = wire::Kind::body, .size = wire::kMaxPartBytes + 1})));
  CHECK_FALSE(wire::read_head(std::string("\x04\0\0\0\0", wire::kHeadBytes)));
  CHECK_FALSE(wire::read_head("\x01"));
}

}  // namespace
}  // namespace bloomgate
