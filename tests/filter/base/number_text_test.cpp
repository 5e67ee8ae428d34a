// Numbers as people read them, in text and on a page.
#include "filter/base/number_text.hpp"

#include <limits>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a count has the word that goes with it") {
  CHECK(format_counted(0, "entry", "entries") == "0 entries");
  CHECK(format_counted(1, "entry", "entries") == "1 entry");
  CHECK(format_counted(1234, "entry", "entries") == "1,234 entries");
}

TEST_CASE("numbers are printed in a readable form") {
  struct Case {
    std::string got;
    std::string_view want;
  };
  const Case cases[] = {
      {format_count(std::uint64_t{0}), "0"},
      {format_count(std::uint64_t{999}), "999"},
      {format_count(std::uint64_t{1'234'567}), "1,234,567"},
      {format_count(std::uint64_t{1000}), "1,000"},
      {format_count(1234.5), "1,235"},
      {format_count(0x1p62), "4,611,686,018,427,387,904"},
      {format_count(0x1p63), "unknown"},
      {format_count(std::numeric_limits<double>::infinity()), "unknown"},
      {format_bytes(1023), "1023 bytes"},
      {format_bytes(1024), "1.00 KiB (1,024 bytes)"},
      {format_short_bytes(std::uint64_t{1} << 20), "1.00 MiB"},
      {format_short_bytes(std::numeric_limits<std::uint64_t>::max()), "16.00 EiB"},
      {format_bytes(std::uint64_t{1} << 30), "1.00 GiB (1,073,741,824 bytes)"},
      {format_short_bytes(1536), "1.50 KiB"},
      {format_short_bytes(7, kNarrowSpace), "7\u202fbytes"},
      {format_short_bytes(1536, kNarrowSpace), "1.50\u202fKiB"},
      {format_rate(0), "0 %"},
      {format_rate(0.0216), "2.16 %"},
      {format_rate(0.05), "5.00 %"},
      {format_rate(0.9994), "99.9 %"},
      {format_rate(0.9996), "100 %"},
      {format_rate(1), "100 %"},
      {format_rate(1e-5), "0.00100 %"},
      {format_rate(1.3e-5), "0.00130 %"},
      {format_rate(9.1e-6), "1 in 110,000"},
      {format_rate(1e-9), "1 in 1,000,000,000"},
      {format_rate(1e-12), "1 in 1,000,000,000,000"},
      {format_rate(7.64e-21), "below 1 in 10^12"},
      {format_percent(1e-7), "1 in 10,000,000"},
      {format_ratio(8), "8"},
      {format_ratio(9.5541), "9.554"},
      {format_ratio(9999.5), "10,000"},
      {format_ratio(32768), "32,768"},
      {format_percent(0), "0 %"},
      {format_percent(1e-5), "0.001 %"},
      {format_percent(0.0437), "4.37 %"},
      {format_percent(0.05), "5 %"},
      {format_percent(0.05, kNarrowSpace), "5\u202f%"},
      {format_share(3, 8), "37.5 %"},
      {format_share(1, 8, kNarrowSpace), "12.5\u202f%"},
      {format_share(0, 0), "-"},
      {format_decimal(8.004, 2), "8.00"},
      {format_duration(0), "0.0 us"},
      {format_duration(12.34e-6), "12.3 us"},
      {format_duration(0.00099995), "1.0 ms"},
      {format_duration(0.0123), "12.3 ms"},
      {format_duration(0.99995), "1.0 s"},
      {format_duration(59.95), "1 min 0 s"},
      {format_duration(3599.4), "59 min 59 s"},
      {format_duration(3600), "1 h 0 min"},
      {format_duration(3700), "1 h 1 min"},
      {format_duration(172'799), "47 h 59 min"},
      {format_duration(172'800), "2 days 0 h"},
      {format_duration(180'000), "2 days 2 h"},
      {format_age(-5s), "0 s"},
      {format_age(119s), "119 s"},
      {format_age(120s), "2 min"},
      {format_age(7199s), "119 min"},
      {format_age(2h), "2 h"},
      {format_age(172'799s), "47 h"},
      {format_age(48h), "2 days"},
      {format_clock(-1), "0:00"},
      {format_clock(7.4), "0:07"},
      {format_clock(3540), "59:00"},
      {format_clock(1e10), "277777:46:40"},
      {format_clock(3723), "1:02:03"},
      {format_time(1'795'256'100), "2026-11-21 10:15:00 UTC"},
      {format_time_of_day(1'795'256'100), "10:15:00"},
      {format_seed(123'456'789), "0x00000000075bcd15"},
  };
  for (const Case& c : cases) CHECK(c.got == c.want);
}

}  // namespace
}  // namespace bloomgate
