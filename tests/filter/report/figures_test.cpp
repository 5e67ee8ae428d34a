#include "filter/report/figures.hpp"

#include <algorithm>

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

std::vector<std::string> pages(const Figures& figures) {
  const ReportContent content = {.scope = {}, .bars = bars_of(figures), .sections = sections_of(figures, 10)};
  return {report_text(content), report_html(content)};
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
  add(figures, decision("", "deliver", "listed"));
  add(figures, decision("", "check", "not-listed", " forged_headers=1"));
  add(figures, decision("", "check", "dmarc-fail"));
  CHECK(figures.messages == 10);
  CHECK(figures.count(Outcome::deliver) == 3);
  CHECK(figures.count(Outcome::check) == 5);
  CHECK(figures.without_domain == 2);
  CHECK(figures.count(Outcome::exempt) == 1);
  CHECK(figures.count(Outcome::refuse) == 1);
  CHECK(figures.listed_domains.size() == 2);
  CHECK(first_word(figures.listed_domains) == "from.example");
  CHECK(figures.listed_domains.top(2)[1].word == "listed.example");
  CHECK(figures.unlisted_domains.size() == 2);
  CHECK(first_word(figures.unlisted_domains) == "bounce.example");
  CHECK(figures.forging_domains.size() == 1);
  CHECK(first_word(figures.forging_domains) == "forger.example");
  CHECK(figures.forged_fields == 501);
  CHECK(figures.forging_messages == 2);
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
  for (const std::string& page : pages(figures)) {
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
  add(figures, decision("c@x.example", "deliver", "not-authenticated", " signer=other.example"));
  for (const std::size_t size : {std::size_t{254}, std::size_t{255}}) {
    add(figures, decision("c@x.example", "check", "not-authenticated", " signer=" + std::string(size, 'x')));
  }
  REQUIRE(figures.needed_signers.size() == 3);
  const auto top = figures.needed_signers.top(2);
  CHECK(top[0].count == 2);
  CHECK(needed_signer_of(top[0].word).listed == "list:dev.lists.example.org");
  CHECK(needed_signer_of(top[0].word).signer == "lists.example.org");
  CHECK(needed_signer_of(top[1].word).signer == "esp.example");
  CHECK_THAT(figures_json(figures, {}, 2), Catch::Contains("\"listed\": \"list:dev.lists.example.org\"") &&
                                               Catch::Contains("\"signer\": \"esp.example\""));
  for (const std::string& page : pages(figures)) {
    CHECK_THAT(page, Catch::Contains("list:dev.lists.example.org") && Catch::Contains("signed-by"));
  }
}

TEST_CASE_METHOD(Counted,
                 "a listed domain that does not authenticate its mail is shown with the reason and the signature") {
  const std::string envelope = " identity=envelope header_from=x@other.example dkim=";
  add(figures, decision("a@Bank.example", "check", "not-authenticated", envelope + "body-changed domain=bank.example"));
  add(figures,
      decision("b@bank.example", "check", "not-authenticated", envelope + "body-changed domain=mail.bank.example"));
  add(figures, decision("a@bank.example", "check", "not-authenticated",
                        envelope + "no-signature signed_by=esp.example signed_by=cdn.example"));
  add(figures,
      decision("a@esp.example", "check", "authentication-failed", " identity=header-from header_from=a@shop.example"));
  add(figures, decision("a@x.example", "check", "not-authenticated",
                        " identity=list entry=list:dev.lists.example signer=lists.example dkim=expired"));
  add(figures, decision("a@shop.example", "check", "not-authenticated",
                        " identity=envelope dkim=no-signature child_signer=mg.shop.example child_of=shop.example"));
  add(figures, decision("a@bank.example", "check", "not-listed", " identity=envelope dkim=no-signature"));
  add(figures, decision("a@bank.example", "deliver", "not-authenticated"));
  add(figures, decision("", "check", "not-authenticated"));
  add(figures, decision("", "check", "not-authenticated", " header_from=a@z.example"));
  const std::vector<Unauthenticated> all = figures.unauthenticated();
  std::vector<std::string> words;
  for (const Unauthenticated& each : all) {
    words.push_back(std::to_string(each.messages) + ' ' + each.listed + ' ' + each.reason + ' ' + each.signature + ' ' +
                    each.last_signed_by);
  }
  CHECK(words == std::vector<std::string>{"2 bank.example not-authenticated body-changed mail.bank.example",
                                          "1 shop.example authentication-failed  ", "1 z.example not-authenticated  ",
                                          "1 list:dev.lists.example not-authenticated expired ",
                                          "1 bank.example not-authenticated no-signature esp.example, cdn.example",
                                          "1 shop.example not-authenticated no-signature mg.shop.example"});
  CHECK_THAT(figures_json(figures, {}, 2),
             Catch::Contains("\"signature\": \"body-changed\"") && Catch::Contains("\"signature\": null"));
  CHECK_THAT(pages(figures)[0],
             Catch::Contains("not-authenticated: no-signature, last signed by esp.example, cdn.example") &&
                 Catch::Contains("authentication-failed "));
}

TEST_CASE_METHOD(Counted, "a failed DMARC is a listed domain's if another message shows that it is listed") {
  const auto fail = [&](const std::string& domain, const std::string& reason) {
    add(figures, decision("a@esp.example", "check", reason, " identity=header-from header_from=a@" + domain));
  };
  fail("shop.example", "dmarc-fail");
  fail("bank.example", "distrusted-results");
  fail("phish.example", "dmarc-fail");
  CHECK(figures.unauthenticated().empty());
  add(figures, decision("b@Shop.example", "deliver", "listed", " identity=envelope"));
  add(figures, decision("b@bank.example", "check", "not-authenticated", " identity=envelope"));
  fail("bank.example", "distrusted-results");
  const std::vector<Unauthenticated> all = figures.unauthenticated();
  REQUIRE(all.size() == 3);
  CHECK((all[0].listed == "bank.example" && all[0].reason == "distrusted-results" && all[0].messages == 2));
  CHECK((all[1].listed == "bank.example" && all[1].reason == "not-authenticated"));
  CHECK((all[2].listed == "shop.example" && all[2].reason == "dmarc-fail"));
  CHECK_THAT(pages(figures)[0], !Catch::Contains("phish.example"));
}

TEST_CASE_METHOD(Counted, "mail of an unlisted domain displaces no listed one, however many it has") {
  add(figures, decision("a@bank.example", "check", "not-authenticated", " identity=envelope dkim=expired"));
  for (std::size_t i = 0; i < 2 * Figures::kMostDomains; ++i) {
    const std::string domain = "d" + std::to_string(i) + ".example";
    add(figures, decision("a@" + domain, "check", "dmarc-fail", " identity=header-from header_from=a@" + domain));
  }
  CHECK(figures.vetoed_senders.size() == Figures::kMostDomains);
  const std::vector<Unauthenticated> all = figures.unauthenticated();
  REQUIRE(all.size() == 1);
  CHECK((all[0].listed == "bank.example" && all[0].messages == 1 && all[0].error == 0));
  CHECK_THAT(pages(figures)[0], !Catch::Contains("There were more than 1:"));
  for (std::size_t i = 0; i < 2 * Figures::kMostDomains; ++i) {
    add(figures, decision("a@d" + std::to_string(i) + ".example", "check", "not-authenticated", " identity=envelope"));
  }
  const std::vector<ReportSection> sections = sections_of(figures, 10);
  const auto shown =
      std::ranges::find(sections, "Listed domains that did not authenticate their mail", &ReportSection::title);
  REQUIRE(shown != sections.end());
  CHECK_THAT(shown->notes.front(), Catch::Contains("There were more than") && Catch::Contains("is too high by"));
}

TEST_CASE_METHOD(Counted, "of a domain that is too long to be kept whole the end is kept") {
  const std::string domain = std::string(250, 'x') + ".bank.example";
  add(figures,
      decision("a@" + domain, "check", "not-authenticated", " identity=envelope dkim=" + std::string(99, 'y')));
  const std::vector<Unauthenticated> all = figures.unauthenticated();
  REQUIRE(all.size() == 1);
  CHECK(domain.ends_with(all[0].listed));
  CHECK(all[0].listed.ends_with("x.bank.example"));
}

TEST_CASE_METHOD(Counted, "listed senders that were held are shown with the reason") {
  const std::string envelope = " identity=envelope authentication=dkim header_from=x@other.example";
  add(figures, decision("news@shop.example", "check", "burst", envelope));
  add(figures, decision("news@shop.example", "check", "burst", envelope));
  add(figures, decision("joe@example.org", "check", "replay", envelope));
  add(figures, decision("a@esp.example", "check", "suspended", " identity=header-from header_from=ann@bank.example"));
  add(figures, decision("a@esp.example", "check", "suspended", " identity=list entry=list:dev.lists.example"));
  add(figures, decision("joe@example.org", "check", "not-listed", envelope));
  add(figures, decision("joe@example.org", "deliver", "burst", envelope));
  std::vector<std::string> words;
  for (const SpaceSaving::Item& item : figures.held.top(9))
    words.push_back(std::to_string(item.count) + ' ' + item.word);
  CHECK(words == std::vector<std::string>{"2 burst news@shop.example", "1 replay joe@example.org",
                                          "1 suspended ann@bank.example", "1 suspended list:dev.lists.example"});
  CHECK_THAT(figures_json(figures, {}, 1),
             Catch::Contains("\"sender\": \"news@shop.example\"") && Catch::Contains("\"reason\": \"burst\""));
  for (const std::string& page : pages(figures)) {
    CHECK_THAT(page, Catch::Contains("ann@bank.example") && Catch::Contains("suspended clear"));
  }
}

TEST_CASE_METHOD(Counted, "senders are the domains of incoming mail, and recipients are counted without their names") {
  for (int i = 0; i < 3; ++i) add(figures, decision("a@big.example", "check", "not-listed"));
  add(figures, decision("a@big.example", "deliver", "listed-for-recipients", " recipients=3 listed_for=3"));
  add(figures, decision("a@small.example", "check", "not-listed-for-all", " recipients=2 listed_for=1"));
  add(figures, decision("a@small.example", "check", "not-listed", " recipients=1 listed_for=9"));
  add(figures, decision("a@small.example", "check", "not-listed", " recipients=x listed_for=-1"));
  add(figures, decision("", "check", "not-listed", " recipients=1099511627777 listed_for=0"));  // at most 2^40 count
  add(figures, decision("ann@ours.example", "check", "exempt-authenticated"));
  const auto top = figures.senders.top(9);
  REQUIRE(top.size() == 2);
  CHECK((top[0].word == "big.example" && top[0].count == 4 && figures.delivered_of(top[0]) == 1));
  CHECK((top[1].word == "small.example" && top[1].count == 3 && figures.delivered_of(top[1]) == 0));
  CHECK(figures.recipient_messages == 4);
  CHECK(figures.recipients == 1'099'511'627'776 + 6);
  CHECK(figures.listing_recipients == 5);
  CHECK_THAT(pages(figures)[0], Catch::Contains("big.example           4  57.1 %          1\n") &&
                                    Catch::Contains("recipients of 4 messages looked up"));
  const std::vector<ReportSection> sections = sections_of(figures, 1);
  const auto senders = std::ranges::find(sections, "Top senders", &ReportSection::title);
  REQUIRE(senders != sections.end());
  CHECK(senders->notes == std::vector<std::string>{"There were 2 in all."});
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
  add(figures, "queue_id=0 sender=<ann@example.org> sample=ham");
  CHECK(figures.spared_messages() == 0);  // the log begins after the delivery
  figures = {};
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
  add(figures, "queue_id=" + std::string(99, 'q') + " decision=check reason=y time_us=70");
  CHECK(figures.slowest[4].reason == "x");  // of two that took as long, the first
  add(figures, "queue_id=" + std::string(99, 'q') + " decision=check reason=" + std::string(99, 'r') + " time_us=71");
  CHECK(figures.slowest[4].queue_id == std::string(80, 'q'));
  CHECK(figures.slowest[4].reason == std::string(80, 'r'));
}

TEST_CASE_METHOD(Counted,
                 "warnings that differ only in numbers and queue IDs are one kind, shown by the last of them") {
  for (const char* id : {"4jXbqd6q9Tz1bs1c", "4jXbqd6t80z1bs1T", "4jXbqd6t80z1bs1T"}) {
    add(figures, std::string("deeper check: ") + id + ": no deeper check has answered", at(0s), DaemonLevel::warning);
  }
  add(figures, "log lines lost here: 12; they came faster", at(0s), DaemonLevel::warning);
  add(figures, "log lines lost here: 7; they came faster", at(1s), DaemonLevel::warning);
  add(figures, "reload refused", at(2s), DaemonLevel::error);
  add(figures, "reload: refused", at(2s), DaemonLevel::error);
  add(figures, "listening on inet:8891@127.0.0.1", at(3s));
  add(figures, "bloomgate-milter 0.1.0 starting, mode enforce", at(3s));
  add(figures, "bloomgate-milter 0.1.0 stopping", at(4s));
  add(figures, "the checker is starting", at(4s));
  const auto top = figures.warnings.top(9);
  REQUIRE(top.size() == 4);
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
  add(figures, decision("b@<b>&\x1b[1m", "check", "burst", " identity=envelope"));
  add(figures, decision("b@<b>&\x1b[1m", "check", "not-authenticated", " identity=envelope dkim=<i> domain=<u>\x1b"));
  const std::vector<std::string> both = pages(figures);
  const std::string& text = both[0];
  const std::string& html = both[1];
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("something \\x1b[2J <b>&") != std::string::npos);
  CHECK(html.find('\x1b') == std::string::npos);
  for (const char* tag : {"<script>", "<b>&", "<i>", "<u>"}) CHECK(html.find(tag) == std::string::npos);
  CHECK(html.find("&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m") != std::string::npos);
  CHECK(html.find("\\x1b[2J &lt;b&gt;&amp;") != std::string::npos);
}

}  // namespace
}  // namespace bloomgate
