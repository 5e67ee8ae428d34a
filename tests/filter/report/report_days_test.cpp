#include "filter/report/report_days.hpp"

#include <numeric>

#include "filter/report/report_pages.hpp"
#include "tests/support/berlin_time.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using test::utc;

class Days : test::Berlin {
 protected:
  Figures figures;

  void add(LogTime time, std::string_view decision = "check", std::string_view reason = "not-listed") {
    const std::string text =
        "queue_id=1 sender=<a@b.example> decision=" + std::string(decision) + " reason=" + std::string(reason);
    figures.add(event_of({.text = text}, time));
  }

  std::vector<std::string> pages() const {
    const ReportContent content = {.scope = {}, .bars = bars_of(figures), .sections = sections_of(figures, 10)};
    return {report_text(content), report_html(content)};
  }
};

std::uint64_t sum(const OutcomeCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

TEST_CASE_METHOD(Days, "a day is this machine's own, and a day without a message is one") {
  add(utc(2026, 11, 20, 22h + 59min), "deliver", "listed");
  add(utc(2026, 11, 20, 23h));
  add(utc(2026, 11, 22, 23h), "refuse", "forged-fields");
  add(utc(2026, 11, 22, 23h), "check", "exempt-network");
  const std::vector<ReportDay> days = days_of(figures);
  REQUIRE(days.size() == 4);
  CHECK(days[0].date == "2026-11-20");
  CHECK(days[0].outcomes == OutcomeCounts{1, 0, 0, 0});
  CHECK(days[1].outcomes == OutcomeCounts{0, 1, 0, 0});
  CHECK(days[2].outcomes == OutcomeCounts{});
  CHECK(days[3].date == "2026-11-23");
  CHECK(days[3].outcomes == OutcomeCounts{0, 0, 1, 1});
  CHECK_THAT(pages()[0], Catch::Contains("day         messages  delivered  checked  exempt  refused\n"
                                         "  2026-11-20         1          1        0       0        0\n"
                                         "  2026-11-21         1          0        1       0        0\n"
                                         "  2026-11-22         0          0        0       0        0\n"
                                         "  2026-11-23         2          0        0       1        1\n"));
  CHECK_THAT(pages()[1], Catch::Contains("<caption>Messages of each day, by decision</caption>") &&
                             Catch::Contains("<th scope=\"row\">2026-11-21</th><td class=\"n\">1</td>"));
}

TEST_CASE_METHOD(Days, "a log of one day has no table of days") {
  add(utc(2026, 11, 20, 1h));
  add(utc(2026, 11, 20, 22h));
  for (const std::string& page : pages())
    CHECK_THAT(page, !Catch::Contains("Days") && !Catch::Contains("Messages of each day"));
}

TEST_CASE_METHOD(Days, "the latest days are whole, and what is older is counted") {
  // The clock goes one hour forward in March and one back in October.
  for (const LogTime last : {utc(2026, 4, 20, 11h), utc(2026, 4, 20, 21h), utc(2026, 4, 19, 22h),
                             utc(2026, 11, 20, 11h), utc(2026, 11, 20, 22h), utc(2026, 11, 19, 23h)}) {
    CAPTURE(last.time_since_epoch().count());
    figures = {};
    for (int hour = 0; hour < 24 * 70; ++hour) add(last - std::chrono::hours(hour));
    const std::vector<ReportDay> days = days_of(figures);
    REQUIRE(days.size() == kMostDays);
    std::uint64_t counted = 0;
    for (const ReportDay& day : days) counted += sum(day.outcomes);
    CHECK(sum(days.front().outcomes) == 24);
    CHECK(days.back().date == format_local_day(last));
    CHECK(bars_of(figures).left_out == figures.messages - counted);
    CHECK_THAT(pages()[0], Catch::Contains(std::to_string(figures.messages - counted) +
                                           " messages of other days are left out: the table has the last 60 days."));
  }
}

TEST_CASE_METHOD(Days, "an hour has its date where the log covers midnight") {
  add(utc(2026, 11, 20, 21h));
  add(utc(2026, 11, 20, 22h));
  CHECK(bars_of(figures).labels == std::vector<std::string>{"22:00", "23:00"});
  add(utc(2026, 11, 20, 23h));
  CHECK(bars_of(figures).labels ==
        std::vector<std::string>{"2026-11-20 22:00", "2026-11-20 23:00", "2026-11-21 00:00"});
  CHECK_THAT(pages()[1], Catch::Contains("<span>2026-11-20 22:00</span><span>2026-11-21 00:00</span>"));
}

TEST_CASE_METHOD(Days, "an empty log has no day") {
  CHECK(days_of(figures).empty());
  CHECK(bars_of(figures).bars.empty());
}

}  // namespace
}  // namespace bloomgate
