#include "filter/ingest/dated_lists.hpp"

#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a list's day is read from its name") {
  CHECK(day_of_list("lists/2026-11-20.txt.zst") == parse_day("2026-11-20"));
  CHECK(day_of_list("2026-11-20") == parse_day("2026-11-20"));
  CHECK(day_of_list("2026-11-20.2.txt.zst") == parse_day("2026-11-20"));
  CHECK(format_day(*day_of_list("a/b/2024-02-29-night.txt")) == "2024-02-29");
  for (const char* name : {"partners.txt", "2026-11-20/partners.txt", "2026-02-29.txt", "2026-13-01.txt",
                           "2026-11-201.txt", "2026-1-20.txt", "2026_11_20.txt", "+026-11-20.txt", ""}) {
    CAPTURE(name);
    CHECK_FALSE(day_of_list(name));
  }
}

TEST_CASE("an age is a number of days, weeks or years") {
  CHECK(parse_age("180d", "--newest") == std::chrono::days(180));
  CHECK(parse_age("26w", "--newest") == std::chrono::days(182));
  CHECK(parse_age("1y", "--newest") == std::chrono::days(365));
  CHECK(parse_age("100y", "--newest") == std::chrono::days(36'500));
  for (const char* text : {"", "d", "180", "0d", "-1d", "1m", "101y", "99999999999d", "1 d", "1.5d"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_age(text, "--newest"), UsageError);
  }
}

TEST_CASE("the newest lists are those within the age, and those without a day") {
  const Day now = *parse_day("2026-11-20");
  using Files = std::vector<std::string>;
  const Files files = {"l/2026-11-18.txt", "l/2026-11-19.txt", "l/2026-11-20.txt", "l/2026-12-01.txt", "partners", "-"};
  CHECK(newest_lists(files, std::chrono::days(2), now) ==
        Files{"l/2026-11-19.txt", "l/2026-11-20.txt", "l/2026-12-01.txt", "partners", "-"});
  CHECK(newest_lists(files, std::chrono::days(3), now) == files);
  CHECK_THROWS_WITH(newest_lists({"2026-11-18.txt", "2026-11-17.txt"}, std::chrono::days(2), now),
                    "no list is newer than 2026-11-18: the newest is of 2026-11-18, and today is 2026-11-20 by this "
                    "machine's clock; run 'bloomgate harvest', or give --newest a longer time");
  CHECK_THROWS_WITH(newest_lists({}, std::chrono::days(2), now),
                    Catch::StartsWith("no list is newer than 2026-11-18; "));
}

}  // namespace
}  // namespace bloomgate
