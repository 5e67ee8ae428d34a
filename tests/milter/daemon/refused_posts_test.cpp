#include "milter/daemon/refused_posts.hpp"

#include <optional>

#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

class Refusals {
 public:
  void minute() {
    for (int second = 0; second < 60; ++second) posts->end_second();
  }

  MemoryLog log;
  Tally tally;
  std::optional<RefusedPosts> posts{std::in_place, log.logger(), &tally};
};

TEST_CASE_METHOD(Refusals, "the first refused post is logged at once, and further ones when a minute is over") {
  posts->note(http_refusal(503, "too many"));
  const std::string first = log.text();
  CHECK_THAT(first, EndsWith("warning: lookup-messages: 1 posted message was not decided, the last with status 503: "
                             "too many\n"));
  for (int i = 0; i < 375; ++i) posts->note(http_refusal(503, "too many"));
  posts->note({.status = 0});
  CHECK(log.text() == first);
  minute();
  CHECK_THAT(log.text().substr(first.size()),
             Contains("376 posted messages were not decided, the last without an answer, since it did not arrive"));
  const std::string both = log.text();
  minute();
  CHECK(log.text() == both);
  posts->note(http_refusal(401, "no token"));
  CHECK_THAT(log.text().substr(both.size()), Contains("1 posted message was not decided, the last with status 401"));
  CHECK(tally.refused_posts(503) == 376);
  CHECK(tally.refused_posts(0) == 1);
  CHECK(tally.refused_posts(401) == 1);
}

TEST_CASE_METHOD(Refusals, "refused posts that are not logged yet are logged at the end") {
  for (int i = 0; i < 3; ++i) posts->note(http_refusal(400, "invalid"));
  posts.reset();
  CHECK_THAT(log.text(), Contains("2 posted messages were not decided, the last with status 400: invalid\n"));
}

TEST_CASE_METHOD(Refusals, "a post that has its own line in the log is counted, and not logged again") {
  posts->note_logged(400);
  posts->note_logged(507);
  posts.reset();
  CHECK(log.text().empty());
  CHECK(tally.refused_posts(400) == 1);
  CHECK(tally.refused_posts(500) == 1);
}

}  // namespace
}  // namespace bloomgate::test
