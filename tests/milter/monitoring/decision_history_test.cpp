#include "milter/monitoring/decision_history.hpp"

#include "milter/monitoring/status_page.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

using std::chrono::days;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;

constexpr DecisionHistory::Time kNow = sys_days(std::chrono::November / 29 / 2026) + minutes(615);  // 10:15

TEST_CASE("each minute and each quarter of an hour contains the messages that were decided in it") {
  DecisionHistory::Minutes of_minutes;
  DecisionHistory::Quarters of_quarters;
  const auto add = [&](DecisionHistory::Time at, const MessageCounts& more) {
    of_minutes.add(at, more);
    of_quarters.add(at, more);
  };
  add(kNow - minutes(90), {.delivered = 7});
  add(kNow - minutes(16), {.delivered = 1});
  add(kNow - minutes(15), {.checked = 2});
  add(kNow, {.exempt = 3});
  add(kNow + seconds(59), {.refused = 4});
  CHECK(of_minutes.of(kNow) == MessageCounts{.exempt = 3, .refused = 4});
  CHECK(of_minutes.of(kNow - minutes(15)) == MessageCounts{.checked = 2});
  CHECK(of_minutes.of(kNow - minutes(90)) == MessageCounts{});  // too old for the ring of minutes
  CHECK(of_minutes.of(kNow + minutes(1)) == MessageCounts{});
  CHECK(of_quarters.of(kNow) == MessageCounts{.exempt = 3, .refused = 4});
  CHECK(of_quarters.of(kNow - minutes(1)) == MessageCounts{.checked = 2});
  CHECK(of_quarters.of(kNow - minutes(90)) == MessageCounts{.delivered = 7});
}

TEST_CASE("after 31 days a quarter of an hour is forgotten, whether or not messages came meanwhile") {
  DecisionHistory::Quarters quarters;
  quarters.add(kNow, {.delivered = 1});
  quarters.add(kNow + days(31) - minutes(15), {.delivered = 2});
  CHECK(quarters.of(kNow).delivered == 1);
  quarters.add(kNow + days(31), {.delivered = 3});
  CHECK(quarters.of(kNow) == MessageCounts{});
  CHECK(quarters.of(kNow + days(31) - minutes(15)).delivered == 2);
  quarters.add(kNow + days(400), {.delivered = 4});
  CHECK(quarters.of(kNow + days(31)) == MessageCounts{});
}

// Calls add() each second from `start` on, with one message each.
void run_seconds(DecisionHistory& history, DecisionHistory::Time start, int count) {
  for (int i = 0; i < count; ++i) history.add(start + seconds(i), {.delivered = 1});
}

TEST_CASE("if the clock jumps ahead and returns, nothing is lost or counted for the wrong time") {
  const auto leap = GENERATE(seconds(minutes(20)), seconds(days(1)), seconds(days(366)));
  CAPTURE(leap.count());
  DecisionHistory history;
  run_seconds(history, kNow, 60);
  run_seconds(history, kNow + leap, 30);
  CHECK(history.quarters().of(kNow).delivered == 60);
  run_seconds(history, kNow + seconds(90), 10);
  CHECK(history.quarters().of(kNow).delivered == 100);
  CHECK(history.quarters().of(kNow + leap) == MessageCounts{});
}

TEST_CASE("a clock that keeps its new time after a jump is believed after ten minutes") {
  DecisionHistory history;
  run_seconds(history, kNow, 60);
  run_seconds(history, kNow + days(1), 700);
  CHECK(history.quarters().of(kNow).delivered == 60);
  CHECK(history.quarters().of(kNow + days(1)).delivered == 700);
}

TEST_CASE("after a clock that was ahead is set back for good, the charts continue at its new time") {
  DecisionHistory history;
  run_seconds(history, kNow - minutes(60), 60);
  run_seconds(history, kNow + minutes(45), 700);
  run_seconds(history, kNow, 700);
  CHECK(history.quarters().of(kNow).delivered == 700);
  CHECK(history.quarters().of(kNow + minutes(45)) == MessageCounts{});
  CHECK(history.quarters().of(kNow - minutes(60)).delivered == 60);
}

TEST_CASE("a clock that is far behind at the start and then set removes nothing from the stored history") {
  DecisionHistory kept;
  run_seconds(kept, kNow, 60);
  DecisionHistory history;
  CHECK_FALSE(history.restore(kept.text()));
  run_seconds(history, kNow - days(GENERATE(1, 40, 20000)), 30);
  run_seconds(history, kNow + minutes(30), 5);
  CHECK(history.quarters().of(kNow).delivered == 60);
  CHECK(history.quarters().of(kNow + minutes(30)).delivered == 35);
}

TEST_CASE("the text of a history makes the same history") {
  DecisionHistory history;
  std::string lines = "bloomgate history 1\n";
  for (int i = 0; i < 40 * 96; ++i) {
    const auto start = (kNow - minutes(15) * (40 * 96 - 1 - i)).time_since_epoch().count();
    lines += "900 " + std::to_string(start) + " " + std::to_string(i + 1) + " 0 0 1\n";
  }
  CHECK_FALSE(history.restore(lines));
  const std::string text = history.text();
  CHECK(text.size() < 200'000);
  CHECK(text.find("900 " + std::to_string((kNow - days(31)).time_since_epoch().count())) == std::string::npos);
  DecisionHistory restored;
  CHECK_FALSE(restored.restore(text));
  CHECK(restored.text() == text);
  CHECK(restored.quarters().of(kNow).delivered == 40 * 96);
}

TEST_CASE("the first invalid line of a history is reported, and the lines before it are loaded") {
  const std::string head = "bloomgate history 1\n900 1764410400 1 2 3 4\n";
  for (const char* const line :
       {"900 1764410400 1 2 3\n", "900 1764410400 1 2 3 4 5\n", "900 1764410401 1 2 3 4\n", "61 1764410400 1 2 3 4\n",
        "0 0 0 0 0 0\n", "900 1764410400 1 2 3 -4\n", "900 1764410400 1 2 3 99999999999999999999\n",
        "900 1764410400 1 2 3 9999999999999999\n", "900  1764410400 1 2 3 4\n", "900 1764410400 1 2 3 4 \n",
        "900 4294967700 1 2 3 4\n", "\n", "900 1764410400 1 2 3 4"}) {
    CAPTURE(line);
    DecisionHistory history;
    CHECK(history.restore(head + line) == 3U);
    CHECK(history.quarters().of(DecisionHistory::Time(seconds(1764410400))) == MessageCounts{1, 2, 3, 4});
  }
  DecisionHistory history;
  CHECK(history.restore("bloomgate history 2\n") == 1U);
  CHECK(history.restore("root:x:0:0::/root:/bin/bash\n") == 1U);
  CHECK_FALSE(history.restore(""));
}

TEST_CASE("the charts have a bar for each minute, quarter of an hour and day, with the times of their ends") {
  DecisionHistory history;
  CHECK_THAT(decision_charts(history, kNow), Contains("The last 90 minutes: 0 messages, at most 0 in a minute") &&
                                                 !Contains("<rect") && !Contains("nan") && !Contains("inf"));
  const auto line = [](DecisionHistory::Time at, const char* counts) {
    return "900 " + std::to_string(at.time_since_epoch().count()) + " " + counts + "\n";
  };
  CHECK_FALSE(history.restore("bloomgate history 1\n" + line(kNow - days(30), "0 100 0 0") +
                              line(kNow - minutes(60 * 23), "40 0 0 0")));
  history.add(kNow, {.delivered = 2, .checked = 1});
  const std::string charts = decision_charts(history, kNow);
  CHECK_THAT(charts, Contains("The last 90 minutes: 3 messages, at most 3 in a minute") &&
                         Contains("The last 24 hours: 43 messages, at most 40 in 15 minutes") &&
                         Contains("The last 31 days: 143 messages, at most 100 in a day"));
  CHECK_THAT(charts, Contains("<span>08:46</span>") && Contains("<span>28\u00a0Nov, 10:30</span>") &&
                         Contains("<span>30\u00a0Oct</span>") && Contains("<span>now</span>"));
  CHECK_THAT(charts, Contains("42 delivered, 101 checked, 0 not incoming, 0 refused"));
}

}  // namespace
}  // namespace bloomgate::test
