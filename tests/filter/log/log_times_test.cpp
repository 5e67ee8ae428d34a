#include "filter/log/log_times.hpp"

#include "filter/base/usage_error.hpp"
#include "filter/report/log_reading.hpp"
#include "tests/support/berlin_time.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::cli {
namespace {

using namespace std::chrono_literals;

using test::Berlin;
using test::utc;

const LogTime kNow = utc(2026, 11, 22, 12h);

TEST_CASE_METHOD(Berlin, "a date with an offset is read in its own time zone") {
  LogTimes times(kNow);
  for (const char* date : {"2026-11-20T10:00:00+01:00", "2026-11-20T10:00:00.123456+01:00", "2026-11-20T10:00:00+0100",
                           "2026-11-20T10:00:00,5+01:00", "2026-11-20T09:00:00Z", "2026-11-20T06:30:00-02:30",
                           "2026-11-21T08:59:00+23:59", "2026-11-20T09:59:60+01:00", "2026-11-20T10:00:00"}) {
    CAPTURE(date);
    CHECK(times.read(date) == utc(2026, 11, 20, 9h));
  }
  CHECK(times.read("2026-11-30T23:59:60") == utc(2026, 11, 30, 23h));
}

TEST_CASE_METHOD(Berlin, "a date without a year is local time, in the latest year in which it is not in the future") {
  LogTimes times(kNow);
  CHECK(times.read("Nov 20 10:00:00") == utc(2026, 11, 20, 9h));
  CHECK(times.read("Nov 20 10:59:59") == utc(2026, 11, 20, 9h + 59min + 59s));
  CHECK(times.read("Jul  4 10:00:00") == utc(2026, 7, 4, 8h));
  CHECK(times.read("Jul 04 10:00:00") == utc(2026, 7, 4, 8h));
  CHECK(times.read("Nov 23 10:00:00") == utc(2026, 11, 23, 9h));  // the clock of another machine is ahead
  CHECK(times.read("Nov 23 13:59:59") == utc(2026, 11, 23, 12h + 59min + 59s));
  CHECK(times.read("Nov 24 10:00:00") == utc(2025, 11, 24, 9h));
  CHECK(times.read("Dec 31 10:00:00") == utc(2025, 12, 31, 9h));
}

TEST_CASE_METHOD(Berlin, "29 February without a year is a day of the last leap year") {
  CHECK(LogTimes(kNow).read("Feb 29 10:00:00") == utc(2024, 2, 29, 9h));
  CHECK(LogTimes(utc(2024, 2, 27, 12h)).read("Feb 29 10:00:00") == utc(2020, 2, 29, 9h));
  CHECK(LogTimes(utc(2024, 2, 28, 12h)).read("Feb 29 10:00:00") == utc(2024, 2, 29, 9h));
  CHECK(LogTimes(utc(2104, 2, 27, 12h)).read("Feb 29 10:00:00") == utc(2096, 2, 29, 9h));  // 2100 is none
  CHECK(LogTimes(kNow).read("Feb 30 10:00:00") == std::nullopt);
}

TEST_CASE("an invalid date is refused") {
  LogTimes times(kNow);
  for (const char* date : {"",
                           "Nov 20",
                           "Nov 20 10:00:0x",
                           "Nov 20 24:00:00",
                           "Nov 20 10:60:00",
                           "Nov  0 10:00:00",
                           "Nov 32 10:00:00",
                           "Nix 20 10:00:00",
                           "Feb 30 10:00:00",
                           "2026-11-31T10:00:00Z",
                           "2026-13-01T10:00:00Z",
                           "2026-11-20T10:00:00+1",
                           "2026-11-20T10:00:00+24:00",
                           "2026-11-20T10:00:00+01:60",
                           "2026-11-20T10:00:00+01.00",
                           "2026-11-20T10:00:00+01000",
                           "2026-11-20",
                           "2026-11-20T10:00:00 01:00",
                           "2026-11-20T10:00:00x0100",
                           "2026-11-20T10:00:00+0x00",
                           "2026-11-20T10:00:00+010x",
                           "2026-11-20T10:00:00x",
                           "2026-11-20T10:00:61Z",
                           "2026-11-20T10:00:0",
                           "20x6-11-20T10:00:00Z",
                           "2026/11-20T10:00:00Z",
                           "2026-11/20T10:00:00Z",
                           "2026-1x-20T10:00:00Z",
                           "2026-11--1T10:00:00Z",
                           "Nov 20 10.00:00",
                           "Nov 20 10:00.00",
                           "Nov 20 1x:00:00",
                           "Nov 20 10:0x:00",
                           "Nov 2x 10:00:00"}) {
    CAPTURE(date);
    CHECK_FALSE(times.read(date));
  }
}

TEST_CASE_METHOD(Berlin, "the option --since takes an age or a local time") {
  CHECK(parse_since("30m", kNow) == kNow - 30min);
  CHECK(parse_since("24h", kNow) == kNow - 24h);
  CHECK(parse_since("7d", kNow) == kNow - 7 * 24h);
  CHECK(parse_since("2w", kNow) == kNow - 14 * 24h);
  CHECK(parse_since("36500d", kNow) == kNow - 36'500 * 24h);
  CHECK(parse_since("2026-11-20", kNow) == utc(2026, 11, 19, 23h));
  CHECK(parse_since("2026-11-20 06:00", kNow) == utc(2026, 11, 20, 5h));
  CHECK(parse_since("2026-11-20 06:00:30", kNow) == utc(2026, 11, 20, 5h + 30s));
  CHECK(parse_since("2026-07-04T06:00", kNow) == utc(2026, 7, 4, 4h));
  for (const char* wrong : {"", "h", "24", "0h", "-1h", "24x", "yesterday", "2026-11-31", "2026-11-20 25:00",
                            "2026-11-20x06:00", "36501d", "99999999999w", "1.5h", "2026/11/20"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_since(wrong, kNow), UsageError);
  }
}

TEST_CASE_METHOD(Berlin, "times are shown in local time") {
  CHECK(format_local(utc(2026, 11, 20, 23h + 30min)) == "2026-11-21 00:30");
  CHECK(format_local(utc(2026, 7, 4, 10h + 5min)) == "2026-07-04 12:05");
}

}  // namespace
}  // namespace bloomgate::cli
