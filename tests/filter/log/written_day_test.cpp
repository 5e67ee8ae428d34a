#include <string>

#include "filter/ingest/dated_lists.hpp"
#include "filter/log/log_times.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

std::string text_of(std::optional<Day> day) {
  return day ? format_day(*day) : "none";
}

TEST_CASE("the day of a log's date, with a year or without one") {
  struct Case {
    const char* date;
    const char* latest;
    const char* want;
  };
  for (const auto& [date, latest, want] : {
           Case{"Nov 20 10:00:00", "2026-11-27", "2026-11-20"},
           {"Nov 27 10:00:00", "2026-11-27", "2026-11-27"},
           {"Nov 28 10:00:00", "2026-11-27", "2025-11-28"},
           {"Nov  2 10:00:00", "2026-11-27", "2026-11-02"},
           {"Dec 31 23:59:59", "2026-01-01", "2025-12-31"},
           {"Feb 29 10:00:00", "2026-11-27", "2024-02-29"},
           {"Feb 29 10:00:00", "1904-02-28", "1896-02-29"},
           {"Feb 30 10:00:00", "2026-11-27", "none"},
           {"Nor 20 10:00:00", "2026-11-27", "none"},
           {"2026-11-20T10:00:00.123456+01:00", "2026-11-27", "2026-11-20"},
           {"2026-12-24 10:00:00", "2026-11-27", "2026-12-24"},
           {"2026-02-30T10:00:00Z", "2026-11-27", "none"},
           {"2026-257-20T10:00:00Z", "2026-11-27", "none"},
           {"2026-11-276T10:00:00Z", "2026-11-27", "none"},
           {"67562-11-20T10:00:00Z", "2026-11-27", "none"},
           {"4294967296-11-20T10:00:00Z", "2026-11-27", "none"},
           {" 20 10:00:00", "2026-11-27", "none"},
           {"9999-11-20T10:00:00Z", "2026-11-27", "9999-11-20"},
           {"2026-11-", "2026-11-27", "none"},
           {"Nov", "2026-11-27", "none"},
           {"", "2026-11-27", "none"},
       }) {
    CAPTURE(date, latest);
    CHECK(text_of(day_of_log_date(date, *parse_day(latest))) == want);
  }
}

TEST_CASE("the day of a message's date, in its writer's time zone") {
  struct Case {
    const char* value;
    const char* want;
  };
  for (const auto& [value, want] : {
           Case{"Fri, 20 Nov 2026 23:30:00 -0800", "2026-11-20"},
           {"20 nov 2026 10:00:00 +0100", "2026-11-20"},
           {" Sun, \t1\tDec\t2026 10:00 GMT", "2026-12-01"},
           {"Fri, 20 Nov 26 10:00:00 GMT", "none"},
           {"Fri, 20 Nov 02026 10:00:00 GMT", "none"},
           {"Fri, 20 2026 10:00:00 GMT", "none"},
           {"Fri, 30 Feb 2026 10:00:00 GMT", "none"},
           {"Fri, 4294967316 Nov 2026 10:00:00 GMT", "none"},
           {"2026-11-20", "none"},
           {"Fri,", "none"},
           {"", "none"},
       }) {
    CAPTURE(value);
    CHECK(text_of(day_of_mail_date(value)) == want);
  }
}

}  // namespace
}  // namespace bloomgate
