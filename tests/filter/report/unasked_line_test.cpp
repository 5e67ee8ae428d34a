
#include <string>

#include "filter/report/figures.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a session that could not ask a milter is found in the logs of both mail servers") {
  struct Case {
    const char* program;
    const char* text;
    const char* milter;
  };
  for (const Case& each :
       {Case{"postfix/smtpd", "warning: connect to Milter service unix:/run/b/milter.sock: No such file or directory",
             "unix:/run/b/milter.sock"},
        Case{"postfix/submission/smtpd", "warning: connect to Milter service inet:127.0.0.1:8895: Connection refused",
             "inet:127.0.0.1:8895"},
        Case{"postfix/cleanup", "warning: connect to Milter service unix:b/m.sock: Permission denied", "unix:b/m.sock"},
        Case{"postfix/smtpd", "warning: milter unix:/b: can't read SMFIC_MAIL reply packet header: Success", "unix:/b"},
        Case{"sm-mta", "6AF1x2: Milter (bloomgate): to error state", "bloomgate"},
        Case{"sendmail", "6AF1x2: Milter (bloomgate): to error state", "bloomgate"}}) {
    const std::string line = std::string("Nov 20 10:00:00 mx ") + each.program + "[7]: " + each.text;
    CAPTURE(line);
    const auto read = read_unasked_line(line);
    REQUIRE(read);
    CHECK(read->milter == each.milter);
    CHECK(read->date == "Nov 20 10:00:00");
    CHECK(std::string(each.text).ends_with(": " + std::string(read->why)));
    const std::string copied = line + "\r";  // from a machine with other line ends
    CHECK(read_unasked_line(copied)->why == read->why);
  }
}

TEST_CASE("other lines do not count as such, whatever they quote") {
  for (const char* text :
       {"mx postfix/smtpd[7]: connect from x", "mx postfix/smtpd[7]: warning: connect to Milter service",
        "mx postfix/smtpd[7]: NOQUEUE: reject: helo=<warning: connect to Milter service unix:/b: Connection refused>",
        "mx bloomgate-milter[7]: warning: connect to Milter service unix:/b: Connection refused",
        "mx sm-mta[7]: 6AF1x2: Milter (bloomgate): init success to negotiate",
        "mx sm-mta[7]: from=<Milter (x): to error state>", "mx sm-mta[7]: 6AF1x2: Milter (bloomgate to error state",
        "mx smtpd[7]: warning: connect to Milter service unix:/b: Connection refused",
        "mx postfix/qmgr[7]: warning: connect to Milter service unix:/b: Connection refused", "nonsense",
        "mx postfix/smtpd[7]: warning: milter unix:/b: malformed reply"}) {
    CAPTURE(text);
    CHECK_FALSE(read_unasked_line(std::string("Nov 20 10:00:00 ") + text));
  }
}

TEST_CASE("sessions that could not ask a milter are counted by milter, with the first and the last") {
  Figures figures;
  const auto add = [&](const std::string& milter, int seconds, const char* why) {
    const LogTime time(std::chrono::seconds(1'790'000'000 + seconds));
    figures.add({.time = time, .unasked = UnaskedLine{.milter = milter, .why = why}});
  };
  const std::string longest(80, 'w');
  add("unix:/b", 50, "Permission denied");
  add("unix:/b", 50, (longest + "x").c_str());
  add("unix:/b", 10, "No such file or directory");
  for (std::size_t i = 0; i < Figures::kMostNames + 5; ++i) add("inet:h:" + std::to_string(i), 0, "x");
  const UnaskedMilter& milter = figures.unasked.at("unix:/b");
  CHECK(milter.sessions == 3);
  CHECK((milter.last - milter.first).count() == 40);
  CHECK(milter.why == longest);
  CHECK(figures.unasked.at("(others)").sessions == 6);
  CHECK(figures.unasked.size() == Figures::kMostNames + 1);
  CHECK(figures.messages == 0);
  CHECK_FALSE(figures.first);
}

}  // namespace
}  // namespace bloomgate
