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

TEST_CASE("each minute and each quarter of an hour has the messages that were decided in it") {
  DecisionHistory history;
  history.add(kNow - minutes(90), {.delivered = 7});
  history.add(kNow - minutes(16), {.delivered = 1});
  history.add(kNow - minutes(15), {.checked = 2});
  history.add(kNow, {.exempt = 3});
  history.add(kNow + seconds(59), {.refused = 4});
  CHECK(history.minutes().of(kNow) == MessageCounts{.exempt = 3, .refused = 4});
  CHECK(history.minutes().of(kNow - minutes(15)) == MessageCounts{.checked = 2});
  CHECK(history.minutes().of(kNow - minutes(90)) == MessageCounts{});  // too old for the ring of minutes
  CHECK(history.minutes().of(kNow + minutes(1)) == MessageCounts{});
  CHECK(history.quarters().of(kNow) == MessageCounts{.exempt = 3, .refused = 4});
  CHECK(history.quarters().of(kNow - minutes(1)) == MessageCounts{.checked = 2});
  CHECK(history.quarters().of(kNow - minutes(90)) == MessageCounts{.delivered = 7});
}

TEST_CASE("after 31 days a quarter of an hour is forgotten, whether or not messages came meanwhile") {
  DecisionHistory history;
  history.add(kNow, {.delivered = 1});
  history.add(kNow + days(31) - minutes(15), {.delivered = 2});
  CHECK(history.quarters().of(kNow).delivered == 1);
  history.add(kNow + days(31), {.delivered = 3});
  CHECK(history.quarters().of(kNow) == MessageCounts{});
  CHECK(history.quarters().of(kNow + days(31) - minutes(15)).delivered == 2);
  history.add(kNow + days(400), {.delivered = 4});
  CHECK(history.quarters().of(kNow + days(31)) == MessageCounts{});
}

TEST_CASE("after the clock was set back, messages count for the last minute that there was") {
  DecisionHistory history;
  history.add(kNow, {.delivered = 1});
  history.add(kNow - days(40), {.delivered = 2});
  CHECK(history.minutes().of(kNow).delivered == 3);
}

TEST_CASE("the text of a history makes the same history, and spans that lie ahead are left out") {
  DecisionHistory history;
  for (int i = 0; i < 40 * 96; ++i) {
    history.add(kNow - minutes(15) * (40 * 96 - 1 - i), {.delivered = static_cast<std::uint64_t>(i) + 1, .refused = 1});
  }
  const std::string text = history.text(kNow);
  CHECK(text.size() < 200'000);
  DecisionHistory restored;
  CHECK_FALSE(restored.restore(text, kNow));
  CHECK(restored.text(kNow) == text);
  CHECK(restored.quarters().of(kNow).delivered == 40 * 96);
  DecisionHistory earlier;
  CHECK_FALSE(earlier.restore(text, kNow - minutes(15)));
  CHECK(earlier.quarters().of(kNow) == MessageCounts{});
  CHECK(earlier.quarters().of(kNow - minutes(15)).delivered == 40 * 96 - 1);
}

TEST_CASE("the first wrong line of a history is named, and what stands before it is taken in") {
  const std::string head = "bloomgate history 1\n900 1764410400 1 2 3 4\n";
  for (const char* const line :
       {"900 1764410400 1 2 3\n", "900 1764410400 1 2 3 4 5\n", "900 1764410401 1 2 3 4\n", "61 1764410400 1 2 3 4\n",
        "0 0 0 0 0 0\n", "900 1764410400 1 2 3 -4\n", "900 1764410400 1 2 3 99999999999999999999\n",
        "900 1764410400 1 2 3 9999999999999999\n", "900  1764410400 1 2 3 4\n", "900 1764410400 1 2 3 4 \n", "\n",
        "900 1764410400 1 2 3 4"}) {
    CAPTURE(line);
    DecisionHistory history;
    CHECK(history.restore(head + line, kNow) == 3U);
    CHECK(history.quarters().of(DecisionHistory::Time(seconds(1764410400))) == MessageCounts{1, 2, 3, 4});
  }
  DecisionHistory history;
  CHECK(history.restore("bloomgate history 2\n", kNow) == 1U);
  CHECK(history.restore("root:x:0:0::/root:/bin/bash\n", kNow) == 1U);
  CHECK_FALSE(history.restore("", kNow));
}

TEST_CASE("the charts have a bar for each minute, quarter of an hour and day, with the times of their ends") {
  DecisionHistory history;
  CHECK_THAT(decision_charts(history, kNow), Contains("The last 90 minutes: 0 messages, at most 0 in a minute") &&
                                                 !Contains("<rect") && !Contains("nan") && !Contains("inf"));
  history.add(kNow - days(30), {.checked = 100});
  history.add(kNow - minutes(60 * 23), {.delivered = 40});
  history.add(kNow, {.delivered = 2, .checked = 1});
  const std::string charts = decision_charts(history, kNow);
  CHECK_THAT(charts, Contains("The last 90 minutes: 3 messages, at most 3 in a minute") &&
                         Contains("The last 24 hours: 43 messages, at most 40 in 15 minutes") &&
                         Contains("The last 31 days: 143 messages, at most 100 in a day"));
  // No time of day stands without its day.
  CHECK_THAT(charts, Contains("<span>29\u00a0Nov, 08:46</span>") && Contains("<span>29\u00a0Nov, 10:15</span>") &&
                         Contains("<span>28\u00a0Nov, 10:30</span>") && Contains("<span>30\u00a0Oct</span>"));
  CHECK_THAT(charts, Contains("42 delivered, 101 checked, 0 not incoming, 0 refused"));
}

}  // namespace
}  // namespace bloomgate::test
