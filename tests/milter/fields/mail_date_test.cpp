#include "milter/fields/mail_date.hpp"

#include <string_view>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

long long seconds(std::string_view value) {
  const auto date = read_mail_date(value);
  return date ? date->time_since_epoch().count() : -1;
}

TEST_CASE("a date is read in each form that occurs in mail") {
  constexpr long long kTime = 1'000'000'000;
  for (const std::string_view value :
       {" Sun, 09 Sep 2001 01:46:40 +0000", "Sun, 9 Sep 2001 01:46:40 GMT", "9 sep 2001 01:46:40 +0000",
        "Sun, 09 Sep 2001\r\n 03:46:40 +0200 (CEST)", "Sat, 08 Sep 2001 18:46:40 -0700 (PDT)",
        "Sat, 8 Sep 2001 18:46:40 PDT", "Sun , 09 Sep 01 01 : 46 : 40 UT", "Sun, 09 Sep 101 01:46:40 Z"}) {
    INFO(value);
    CHECK(seconds(value) == kTime);
  }
  CHECK(seconds("Sun, 09 Sep 2001 01:46 +0000") == kTime - 40);
}

TEST_CASE("an invalid date is not read") {
  for (const std::string_view value :
       {"", "soon", "Sun, 09 Sep 2001 01:46:40", "Sun, 31 Feb 2001 01:46:40 +0000", "Sun, 09 Foo 2001 01:46:40 +0000",
        "Sun, 09 Sep 2001 24:46:40 +0000", "Sun, 09 Sep 2001 01:60:40 +0000", "Sun, 09 Sep 2001 01:46:61 +0000",
        "Sun, 09 Sep 2001 01:46:40 +0060", "Sun, 09 Sep 2001 01:46:40 +00000", "Sun, 09 Sep 2001 01:46:40 +0000 x",
        "Sun, 09 Sep 20011 01:46:40 +0000", "2001-09-09T01:46:40Z", "Sun, -9 Sep 2001 01:46:40 +0000",
        "Sun, 09 Sep 2001 014640 +0000"}) {
    INFO(value);
    CHECK(seconds(value) == -1);
  }
}

}  // namespace
}  // namespace bloomgate
