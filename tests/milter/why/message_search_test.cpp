#include "milter/why/message_search.hpp"

#include <sstream>

#include "filter/base/ascii.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

std::string line_of(int minute, const std::string& queue_id, const std::string& sender, const std::string& from) {
  const std::string time = (minute < 10 ? "0" : "") + std::to_string(minute);
  return "2026-11-20T10:" + time + ":00+00:00 mx bloomgate-milter[12]: queue_id=" + queue_id + " sender=<" + sender +
         "> decision=check reason=not-listed time_us=1.0 identity=envelope authentication=none whitelist=- "
         "header_from=" +
         from + "\n";
}

MessageSearch searched(const std::string& subject, const std::string& log) {
  MessageSearch search(subject, LogTime(std::chrono::sys_days(std::chrono::year(2026) / 11 / 22)));
  std::istringstream stream(log);
  search.read(stream, "the log");
  return search;
}

const std::string kLog =
    line_of(1, "A1", "bounce@mailer.test", "joe@example.org") +
    "2026-11-20T10:01:30+00:00 mx postfix/qmgr[3]: A1: from=<joe@example.org>, size=1\n" +
    line_of(2, "B2", "Joe@Example.org", "-") + line_of(3, "C3", "ann@sub.example.org", "ann@sub.example.org") +
    line_of(4, "A1", "eve@example.net", "eve@example.net") +
    "2026-11-20T10:05:00+00:00 mx bloomgate-milter[12]: reloaded\n" + line_of(6, "D4", "", "mailer-daemon@example.net");

TEST_CASE("messages are found by queue ID, by either sender, and by the domain of either") {
  struct Case {
    std::string subject;
    std::vector<std::string> want;
  };
  for (const Case& c : {Case{"B2", {"B2"}},
                        {"B2:", {"B2"}},
                        {"b2", {}},
                        {"A1", {"A1", "A1"}},
                        {"joe@example.org", {"A1", "B2"}},
                        {"JOE@example.ORG", {"A1", "B2"}},
                        {"Joe Doe <joe@example.org>", {"A1", "B2"}},
                        {"bounce@mailer.test", {"A1"}},
                        {"@example.org", {"A1", "B2"}},
                        {"@.example.org", {"A1", "B2", "C3"}},
                        {"@.ample.org", {}},
                        {"<>", {"D4"}},
                        {"oe@example.org", {}},
                        {"A", {}}}) {
    INFO(c.subject);
    const MessageSearch search = searched(c.subject, kLog);
    std::vector<std::string> got;
    for (const FoundMessage& each : search.messages()) got.push_back(each.queue_id);
    CHECK(got == c.want);
    CHECK(search.found() == c.want.size());
    CHECK(search.lines() == 7);
    CHECK(search.daemon_lines() == 6);
    CHECK(search.decisions() == 5);
  }
}

TEST_CASE("the last messages are kept by their time, whatever the order of the logs") {
  std::string log;
  for (int minute = 59; minute >= 0; --minute) log += line_of(minute, std::to_string(minute), "a@b.example", "-");
  const MessageSearch search = searched("a@b.example", log);
  CHECK(search.found() == 60);
  const std::vector<FoundMessage> last = search.messages();
  REQUIRE(last.size() == MessageSearch::kMost);
  CHECK(last.front().queue_id == "50");
  CHECK(last.back().queue_id == "59");
  CHECK(last.back().why.starts_with("Checked, because a@b.example is on no list."));
}

TEST_CASE("raw bytes of a log are never printed") {
  const std::string log = line_of(1, "A\x1b[2J", "a@b.example", "\xff\x1b]0;x@c.example");
  const std::vector<FoundMessage> found = searched("a@b.example", log).messages();
  REQUIRE(found.size() == 1);
  for (const std::string& text : {found[0].queue_id, found[0].sender, found[0].header_from, found[0].why}) {
    CHECK(ascii::is_printable(text));
  }
}

TEST_CASE("an address beyond ASCII is found as typed, and as in the log") {
  const std::string log = line_of(1, "A1", "j\\xc3\\xb6rg@example.org", "-");
  CHECK(searched("j\u00f6rg@example.org", log).found() == 1);
  CHECK(searched("j\\xc3\\xb6rg@example.org", log).found() == 1);
  CHECK(searched("j\u00f6rg@example.org", log).asked() == "j\u00f6rg@example.org");
}

TEST_CASE("a file that is not a log is an error, and a log damaged by a crash is read") {
  using Catch::Contains;
  const std::string nul(1, '\0');
  CHECK(searched("A1", nul + '\n' + kLog).found() == 2);
  CHECK_THROWS_WITH(searched("A1", "a" + nul + "b"), Contains("the log is not a text: it has NUL bytes"));
  const std::string longest(MessageSearch::kMaxLineBytes, 'x');
  CHECK(searched("A1", longest + '\n' + kLog).found() == 2);
  CHECK(searched("A1", kLog + longest).lines() == 8);
  CHECK_THROWS_WITH(searched("A1", longest + "x\n" + kLog), Contains("the log is not a log: a line of it has more"));
  CHECK_THROWS_WITH(searched("A1", longest + "x"), Contains("a line of it has more than 1 MiB"));
}

}  // namespace
}  // namespace bloomgate
