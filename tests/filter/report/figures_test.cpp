#include "filter/report/figures.hpp"

#include "filter/report/figures_json.hpp"
#include "filter/report/report_pages.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

LogTime at(std::chrono::seconds after) {
  return LogTime(1'790'000'000s) + after;
}

void add(Figures& figures, const std::string& text, LogTime time = at(0s), DaemonLevel level = DaemonLevel::info) {
  figures.add(event_of({.level = level, .text = text}, time));
}

std::string decision(const std::string& sender, const std::string& verdict, const std::string& reason,
                     const std::string& more = "") {
  return "queue_id=1 sender=<" + sender + "> decision=" + verdict + " reason=" + reason + more;
}

std::string first_word(const SpaceSaving& words) {
  return words.size() == 0 ? "" : words.top(1).front().word;
}

struct Counted {
  Figures figures;
};

TEST_CASE_METHOD(Counted, "messages are counted by outcome, and domains by decision") {
  add(figures, decision("a@Listed.Example", "deliver", "listed",
                        " identity=envelope authentication=dkim whitelist=w header_from=x@other.example"));
  add(figures, decision("a@other.example", "deliver", "listed", " identity=header-from header_from=b@from.example"));
  add(figures, decision("a@stranger.example", "check", "not-listed"));
  add(figures, decision("", "check", "not-listed", " header_from=b@bounce.example"));
  add(figures, decision("a@nobody.example", "check", "dmarc-fail"));
  add(figures, decision("a@ours.example", "check", "exempt-network"));
  add(figures, decision("a@forger.example", "refuse", "forged-fields", " forged_headers=500"));
  CHECK(figures.messages == 7);
  CHECK(figures.count(Outcome::deliver) == 2);
  CHECK(figures.count(Outcome::check) == 3);
  CHECK(figures.count(Outcome::exempt) == 1);
  CHECK(figures.count(Outcome::refuse) == 1);
  CHECK(figures.listed_domains.size() == 2);
  CHECK(first_word(figures.listed_domains) == "from.example");
  CHECK(figures.listed_domains.top(2)[1].word == "listed.example");
  CHECK(figures.unlisted_domains.size() == 2);
  CHECK(first_word(figures.unlisted_domains) == "bounce.example");
  CHECK(first_word(figures.forging_domains) == "forger.example");
  CHECK(figures.forged_fields == 500);
  CHECK(figures.forging_messages == 1);
  CHECK(first_word(figures.whitelists) == "w");
  CHECK(first_word(figures.authentications) == "dkim");
}

TEST_CASE_METHOD(Counted, "listed senders of whom only a child signs are counted with the child") {
  const auto add_signed = [&](const std::string& signer, const std::string& domain) {
    add(figures, decision("a@" + domain, "check", "not-authenticated",
                          " dkim=no-signature child_signer=" + signer + " child_of=" + domain));
  };
  add_signed("mg.shop.example", "shop.example");
  add_signed("mg.shop.example", "shop.example");
  add_signed("a.b.shop.example", "b.shop.example");
  const std::string longest = std::string(126, 'x') + "." + std::string(126, 'y');  // a domain has 255 bytes at most
  add_signed("a." + longest, longest);
  add_signed("ab." + longest, longest);
  for (const auto& [signer, domain] :
       {std::pair("shop.example", "shop.example"), std::pair(".shop.example", "shop.example"),
        std::pair("othershop.example", "shop.example"), std::pair("mg.shop.example", ""), std::pair("", "shop.example"),
        std::pair("mg.shop.example", "bank.example")}) {
    add_signed(signer, domain);
  }
  REQUIRE(figures.child_signers.size() == 3);
  const auto top = figures.child_signers.top(1);
  CHECK(top[0].count == 2);
  CHECK(child_signer_of(top[0].word).signer == "mg.shop.example");
  CHECK(child_signer_of(top[0].word).listed == "shop.example");
  CHECK_THAT(figures_json(figures, {}, 1),
             Catch::Contains("\"domain\": \"shop.example\"") && Catch::Contains("\"signer\": \"mg.shop.example\""));
  const ReportContent content = {.scope = {}, .bars = bars_of(figures), .sections = sections_of(figures, 10)};
  for (const std::string& page : {report_text(content), report_html(content)}) {
    CHECK_THAT(page, Catch::Contains("mg.shop.example") && Catch::Contains("alignment = relaxed"));
  }
}

TEST_CASE_METHOD(Counted, "what is listed with a signer, and was not signed by it, is counted with the signer") {
  const std::string list = " entry=list:dev.lists.example.org signer=lists.example.org dkim=body-changed";
  add(figures, decision("a@x.example", "check", "not-authenticated", list));
  add(figures, decision("b@x.example", "check", "not-authenticated", list));
  add(figures, decision("billing@bank.example", "check", "not-authenticated", " signer=esp.example"));
  add(figures, decision("c@x.example", "check", "revoked", list));
  add(figures, decision("c@x.example", "deliver", "listed-mailing-list", list));
  add(figures, decision("c@x.example", "check", "not-authenticated", " entry=@x.example"));
  add(figures, decision("c@x.example", "check", "not-authenticated", " signer=" + std::string(300, 'x')));
  REQUIRE(figures.needed_signers.size() == 2);
  const auto top = figures.needed_signers.top(2);
  CHECK(top[0].count == 2);
  CHECK(needed_signer_of(top[0].word).listed == "list:dev.lists.example.org");
  CHECK(needed_signer_of(top[0].word).signer == "lists.example.org");
  CHECK(needed_signer_of(top[1].word).signer == "esp.example");
  CHECK_THAT(figures_json(figures, {}, 2), Catch::Contains("\"listed\": \"list:dev.lists.example.org\"") &&
                                               Catch::Contains("\"signer\": \"esp.example\""));
  const ReportContent content = {.scope = {}, .bars = bars_of(figures), .sections = sections_of(figures, 10)};
  for (const std::string& page : {report_text(content), report_html(content)}) {
    CHECK_THAT(page, Catch::Contains("list:dev.lists.example.org") && Catch::Contains("signed-by"));
  }
}

TEST_CASE_METHOD(Counted, "the work that checkers were spared is estimated by their answers alone") {
  for (int i = 0; i < 10; ++i) add(figures, decision("a@listed.example", "deliver", "listed"));
  CHECK_FALSE(figures.spared_seconds());
  add(figures, decision("a@b.example", "check", "not-listed", " deep_check=ham check_ms=100"));
  add(figures, decision("a@b.example", "check", "not-listed", " deep_check=spam check_ms=300"));
  add(figures, decision("a@b.example", "check", "not-listed", " deep_check=failed check_ms=30000"));
  CHECK(figures.spared_seconds().value() == Approx(2));
  CHECK(figures.checks.size() == 3);
  CHECK(figures.failed_check_times.longest_seconds() == 30);
}

TEST_CASE_METHOD(Counted, "a listed sender whose sampled mail is spam is named") {
  for (int i = 0; i < 9; ++i) add(figures, decision("joe@example.org", "deliver", "listed"));
  const std::string end =
      " score=12.3/5.0 identity=envelope whitelist=customers header_from=x@other.example check_ms=42";
  for (const char* id : {"1", "5"}) {
    add(figures, std::string("queue_id=") + id + " sender=<joe@example.org> sample=spam" + end, at(0s),
        DaemonLevel::warning);
  }
  add(figures, "queue_id=2 sender=<ann@example.org> sample=ham" + end);
  add(figures, "queue_id=3 sender=<ann@example.org> sample=failed identity=envelope");
  CHECK(figures.messages == 9);
  CHECK(figures.warnings.size() == 0);
  CHECK(figures.samples.total() == 4);
  CHECK(figures.spared_messages() == 5);
  const auto senders = figures.spam_senders.top(9);
  REQUIRE(senders.size() == 1);
  CHECK(senders[0].word == "joe@example.org");
  CHECK(senders[0].count == 2);
  CHECK(senders[0].note == "customers 12.3/5.0");
  add(figures, "queue_id=4 sender=<a@b.example> sample=spam identity=header-from header_from=f@from.example", at(0s),
      DaemonLevel::warning);
  CHECK(figures.spam_senders.top(9)[1].word == "f@from.example");
}

TEST_CASE_METHOD(Counted, "the slowest decisions are kept in order, up to a number") {
  for (const int us : {5, 900, 1, 70, 800, 3, 600, 2, 1000}) {
    add(figures, decision("a@b.example", "check", "x", " time_us=" + std::to_string(us)));
  }
  REQUIRE(figures.slowest.size() == Figures::kMostSlow);
  CHECK(figures.slowest[0].seconds == Approx(1e-3));
  CHECK(figures.slowest[1].seconds == Approx(9e-4));
  CHECK(figures.slowest[4].seconds == Approx(7e-5));
}

TEST_CASE_METHOD(Counted,
                 "warnings that differ only in numbers and queue IDs are one kind, shown by the last of them") {
  for (const char* id : {"4jXbqd6q9Tz1bs1c", "4jXbqd6t80z1bs1T", "4jXbqd6t80z1bs1T"}) {
    add(figures, std::string("deeper check: ") + id + ": no deeper check has answered", at(0s), DaemonLevel::warning);
  }
  add(figures, "log lines lost here: 12; they came faster", at(0s), DaemonLevel::warning);
  add(figures, "log lines lost here: 7; they came faster", at(1s), DaemonLevel::warning);
  add(figures, "reload refused", at(2s), DaemonLevel::error);
  add(figures, "listening on inet:8891@127.0.0.1", at(3s));
  add(figures, "bloomgate-milter 0.1.0 starting, mode enforce", at(3s));
  const auto top = figures.warnings.top(9);
  REQUIRE(top.size() == 3);
  CHECK(top[0].count == 3);
  CHECK(top[1].count == 2);
  CHECK(top[1].note == "log lines lost here: 7; they came faster");
  CHECK(figures.lost_lines == 19);
  CHECK(figures.starts == 1);
  CHECK(figures.messages == 0);
}

TEST_CASE_METHOD(Counted, "a log of many years takes no more memory than one of a year") {
  for (std::size_t hour = 0; hour < Figures::kMostHours + 100; ++hour) {
    add(figures, decision("a@b.example", "check", "x"), at(std::chrono::hours(hour)));
  }
  CHECK(figures.hours.size() == Figures::kMostHours);
  CHECK(figures.without_hour == 100);
  const ReportBars bars = bars_of(figures);
  CHECK(bars.unit == "day");
  CHECK(bars.bars.size() <= 61);
  std::uint64_t drawn = bars.left_out;
  for (const DecisionBar& bar : bars.bars) drawn += bar.height();
  CHECK(drawn == figures.messages);
}

TEST_CASE_METHOD(Counted, "two days are shown by hour, empty hours included") {
  add(figures, decision("a@b.example", "check", "x"), at(0s));
  add(figures, decision("a@b.example", "deliver", "x"), at(47h));
  const ReportBars bars = bars_of(figures);
  CHECK(bars.unit == "hour");
  REQUIRE(bars.bars.size() == 48);
  CHECK(bars.bars.front().checked == 1);
  CHECK(bars.bars[1].height() == 0);
  CHECK(bars.bars.back().delivered == 1);
}

TEST_CASE("a date of any year is shown in full") {
  for (const char* date : {"0013-11-20T10:00:00Z", "2026-11-20T10:00:00Z", "9999-12-31T23:59:59Z"}) {
    CAPTURE(date);
    Figures figures;
    add(figures, decision("a@b.example", "check", "x"), LogTimes(at(0s)).read(date).value());
    CHECK_THAT(figures_json(figures, {}, 1), Catch::Contains(std::string("\"first\": \"") + date));
  }
}

TEST_CASE_METHOD(Counted, "text of the log is escaped for a terminal and a browser") {
  add(figures, decision("a@<script>alert(1)</script>\x1b[31m", "check", "not-listed"));
  add(figures, "something \x1b[2J <b>&", at(0s), DaemonLevel::warning);
  const ReportContent content = {
      .scope = scope_of(figures, {}), .bars = bars_of(figures), .sections = sections_of(figures, 10)};
  const std::string text = report_text(content);
  const std::string html = report_html(content);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("something \\x1b[2J <b>&") != std::string::npos);
  CHECK(html.find('\x1b') == std::string::npos);
  CHECK(html.find("<script>") == std::string::npos);
  CHECK(html.find("&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m") != std::string::npos);
  CHECK(html.find("\\x1b[2J &lt;b&gt;&amp;") != std::string::npos);
}

}  // namespace
}  // namespace bloomgate
