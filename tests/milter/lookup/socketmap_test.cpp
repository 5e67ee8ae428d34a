#include "milter/lookup/socketmap.hpp"

#include "milter/lookup/sender_question.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using State = Netstring::State;

TEST_CASE("a netstring is its length, a colon, that many bytes and a comma") {
  struct Case {
    std::string_view bytes;
    State want;
    std::string_view payload = {};
  };
  const Case cases[] = {
      {"7:senders,", State::complete, "senders"},
      {"7:senders,3:a b,", State::complete, "senders"},
      {"0:,", State::complete, ""},
      {"3:a,b,", State::complete, "a,b"},
      {std::string_view("3:a\0b,", 6), State::complete, std::string_view("a\0b", 3)},
      {"", State::incomplete},
      {"7", State::incomplete},
      {"7:", State::incomplete},
      {"7:senders", State::incomplete},
      {"7:sender", State::incomplete},
      {"7:senders;", State::malformed},
      {"07:senders,", State::malformed},
      {"00", State::malformed},
      {":", State::malformed},
      {"senders", State::malformed},
      {"-1:,", State::malformed},
      {"+1:a,", State::malformed},
      {" 1:a,", State::malformed},
      {"7 :senders,", State::malformed},
      {"GET / HTTP/1.1\r\n", State::malformed},
      {"1025", State::malformed},
      {"10240", State::malformed},
      {"99999999999999999999:a,", State::malformed},
  };
  for (const Case& c : cases) {
    INFO(c.bytes);
    const Netstring got = read_netstring(c.bytes);
    CHECK(got.state == c.want);
    if (c.want == State::complete) CHECK(got.payload == c.payload);
  }
}

TEST_CASE("the longest allowed request is read, and a longer one is refused without waiting") {
  const std::string longest = netstring_of(std::string(kMaxSocketmapRequestBytes, 'x'));
  CHECK(read_netstring(longest).bytes == longest.size());
  CHECK(read_netstring(longest).payload.size() == kMaxSocketmapRequestBytes);
  CHECK(read_netstring(longest.substr(0, longest.size() - 1)).state == State::incomplete);
  CHECK(read_netstring(netstring_of(std::string(kMaxSocketmapRequestBytes + 1, 'x'))).state == State::malformed);
}

TEST_CASE("a request is a map and a key, with the first space between them") {
  CHECK(socketmap_request("senders joe@example.org").map == "senders");
  CHECK(socketmap_request("senders joe@example.org").key == "joe@example.org");
  CHECK(socketmap_request("senders a b").key == "a b");
  CHECK(socketmap_request("senders ").key.empty());
  CHECK(socketmap_request("senders").map.empty());
  CHECK(socketmap_request("").map.empty());
}

TEST_CASE("a key is a sender, or a sender and a recipient") {
  CHECK(sender_question("joe@example.org").sender == "joe@example.org");
  CHECK(sender_question("joe@example.org").recipient.empty());
  CHECK(sender_question("joe@example.org > ann@ours.example").sender == "joe@example.org");
  CHECK(sender_question("joe@example.org > ann@ours.example").recipient == "ann@ours.example");
  CHECK(sender_question("\"a > b\"@example.org > ann@ours.example").sender == "\"a > b\"@example.org");
  CHECK(sender_question("<>").sender == "<>");
}

TEST_CASE("a sender who is neither listed nor revoked has no answer") {
  CHECK(standing_name(SenderStanding::listed) == "listed");
  CHECK(standing_name(SenderStanding::revoked) == "revoked");
  CHECK(standing_name(SenderStanding::neither).empty());
}

}  // namespace
}  // namespace bloomgate
