#include "milter/learning/pending_lesson.hpp"

#include "filter/mail/calendar_reply.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

const Lesson kLesson = {"ann@ours.example", {"joe@example.org"}};
constexpr std::string_view kMultipart = "multipart/mixed; boundary=x";
const std::string kText = "--x\r\n\r\nI am coming\r\n";
const std::string kAnswer = "--x\r\nContent-Type: text/calendar; method=REPLY\r\n\r\n";

bool teaches(PendingLesson& pending) {
  return !pending.take().is_empty();
}

TEST_CASE("a message teaches unless one of its parts answers an invitation, however its body is cut up") {
  PendingLesson pending;
  for (const bool answers : {false, true}) {
    const std::string body = answers ? kText + kAnswer : kText;
    for (std::size_t size = 1; size <= body.size(); ++size) {
      pending.begin(kLesson, kMultipart);
      for (std::size_t at = 0; at < body.size(); at += size) CHECK(pending.add_body(body.substr(at, size)));
      CHECK(teaches(pending) == !answers);
    }
  }
}

TEST_CASE("only the body of a multipart that would teach is needed, and no more of it than is read") {
  PendingLesson pending;
  CHECK_FALSE(pending.add_body(kAnswer));
  pending.begin({}, kMultipart);
  CHECK_FALSE(pending.add_body(kAnswer));
  CHECK_FALSE(teaches(pending));
  pending.begin(kLesson, "text/plain");
  CHECK_FALSE(pending.add_body(kAnswer));
  CHECK(teaches(pending));
  pending.begin(kLesson, "text/calendar");
  CHECK(pending.add_body("METHOD:"));
  CHECK(pending.add_body("REPLY\r\n"));
  CHECK_FALSE(teaches(pending));
  pending.begin(kLesson, "");
  CHECK_FALSE(pending.add_body(kAnswer));
  CHECK(teaches(pending));
  pending.begin(kLesson, kMultipart);
  CHECK(pending.add_body(kText));
  CHECK(pending.add_body(std::string(kCalendarReplyBytes - kText.size() - 1, '\n')));
  CHECK_FALSE(pending.add_body("\n" + kAnswer));
  CHECK_FALSE(pending.add_body(kAnswer));
  CHECK(teaches(pending));
}

TEST_CASE("a multipart whose body the mail server did not send teaches nothing") {
  PendingLesson pending;
  pending.begin(kLesson, kMultipart);
  CHECK_FALSE(teaches(pending));
}

TEST_CASE("nothing of a message stays for the next one") {
  PendingLesson pending;
  pending.begin(kLesson, kMultipart);
  pending.add_body(kAnswer);
  pending.clear();
  CHECK_FALSE(teaches(pending));
  pending.begin(kLesson, kMultipart);
  pending.add_body(kAnswer);
  pending.begin(kLesson, kMultipart);
  pending.add_body(kText);
  CHECK(pending.take().correspondents == kLesson.correspondents);
  CHECK_FALSE(teaches(pending));
}

}  // namespace
}  // namespace bloomgate
