#include "milter/lookup/http_lookup.hpp"

#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// Joe is listed, pam for ann only, and eve is revoked.
SenderStanding look_up(const SenderQuestion& question) {
  if (question.sender == "joe+tag@example.org") return SenderStanding::listed;
  if (question.sender == "pam@example.org" && question.recipient == "ann@ours.example") return SenderStanding::listed;
  return question.sender == "eve@example.org" ? SenderStanding::revoked : SenderStanding::neither;
}

HttpAnswer get(std::string_view target) {
  return answer_over_http({.target = target}, look_up);
}

HttpAnswer post(std::string_view body, std::string_view target = "/senders") {
  return answer_over_http({.target = target, .posted = body}, look_up);
}

TEST_CASE("a sender is answered with one word") {
  struct Case {
    std::string_view target, want;
  };
  const std::vector<Case> cases = {
      {"/sender?address=joe+tag@example.org", "listed\n"},
      {"/sender?address=joe%2Btag%40example%2eorg", "listed\n"},
      {"/sender?address=eve@example.org", "revoked\n"},
      {"/sender?address=pam@example.org", "neither\n"},
      {"/sender?address=pam@example.org&recipient=ann@ours.example", "listed\n"},
      {"/sender?recipient=ann@ours.example&address=pam@example.org", "listed\n"},
      {"/sender?address=pam@example.org&recipient=bob@ours.example", "neither\n"},
      {"/sender?address=pam@example.org&recipient=", "neither\n"},
      {"/sender?address=", "neither\n"},
      // A query is no key of socketmap: a sender does not name the recipient.
      {"/sender?address=pam@example.org%20>%20ann@ours.example", "neither\n"},
  };
  for (const Case& c : cases) {
    INFO(c.target);
    CHECK(get(c.target).status == 200);
    CHECK(get(c.target).body == c.want);
  }
}

TEST_CASE("a query with an unknown part is refused, so that no recipient is ignored") {
  for (const std::string_view query :
       {"", "address", "?", "&", "recipient=ann@ours.example", "adress=joe@example.org", "address=a@b.test&recipent=c",
        "address=a@b.test&recipient=%", "address=a@b.test&address=c@d.test", "address=a@b.test&recipient=c&recipient=d",
        "address=a%", "address=a%4", "address=a%4g", "address=a%00b", "address=a%0ab", "address=a%7F",
        "ADDRESS=a@b.test"}) {
    INFO(query);
    // `address` alone has an empty value, as `address=` has.
    const bool is_empty_address = query == "address";
    CHECK(get(std::string("/sender?").append(query)).status == (is_empty_address ? 200 : 400));
  }
  CHECK(get("/sender").status == 400);
}

TEST_CASE("an unknown path is status 404, and each path has its method") {
  for (const std::string_view target :
       {"/", "", "/send", "/sender/", "/sendersx?address=a@b.test", "http://a/sender"}) {
    INFO(target);
    CHECK(get(target).status == 404);
  }
  CHECK(get("/senders").status == 405);
  CHECK(post("joe+tag@example.org", "/sender?address=joe+tag@example.org").status == 405);
}

TEST_CASE("each line of a POST is answered in its order") {
  CHECK(post("").body.empty());
  CHECK(post("joe+tag@example.org").body == "listed\n");
  CHECK(post("joe+tag@example.org\r\neve@example.org\n\nnobody\npam@example.org > ann@ours.example\npam@example.org\n")
            .body == "listed\nrevoked\nneither\nneither\nlisted\nneither\n");
  CHECK(post(std::string_view("joe+tag@example.org\0\n\0", 22)).body == "neither\nneither\n");
}

TEST_CASE("more lines than are answered at once are refused") {
  std::string most;
  for (std::size_t i = 0; i < kMaxPostedLines; ++i) most += "a\n";
  CHECK(post(most).body.size() == 8 * kMaxPostedLines);
  most.pop_back();
  CHECK(post(most).body.size() == 8 * kMaxPostedLines);
  CHECK(post(most + "\na").status == 413);
  CHECK(post(most + "\n\n").status == 413);
}

}  // namespace
}  // namespace bloomgate
