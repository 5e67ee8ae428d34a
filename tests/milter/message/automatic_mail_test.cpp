#include "milter/message/automatic_mail.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a message with an automatic field is recognised as automatic") {
  struct Case {
    std::string_view name, value;
    bool want;
  };
  const Case cases[] = {
      {"Auto-Submitted", "auto-replied", true},
      {"auto-submitted", "auto-generated; by=x", true},
      {"Auto-Submitted ", "auto-notified", true},
      {"Auto-Submitted", "no", false},
      {"Auto-Submitted", " No ; x=y", false},
      {"Auto-Submitted", "no(really)", false},
      {"Auto-Submitted", "(a (nested \\) one)) no", false},
      {"Auto-Submitted", "\r\n\tno", false},
      {"Auto-Submitted", "none", true},
      {"Auto-Submitted", "", true},
      {"Auto-Submitted", "(no", true},
      {"Auto-Submitted", "(no\\", true},
      {"Auto-Submitted", ")( no", true},
      {"Auto-Submitted", "((a) no)", true},
      {"List-Id", "<list.example.org>", true},
      {"Precedence", "bulk", true},
      {"Precedence", "List", true},
      {"Precedence", " junk (as they say)", true},
      {"Precedence", "first-class", false},
      {"Precedence", "bulky", false},
      {"X-Precedence", "bulk", false},
      {"Subject", "Auto-Submitted", false},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name, each.value);
    CHECK(says_automatic(each.name, each.value) == each.want);
  }
}

}  // namespace
}  // namespace bloomgate
