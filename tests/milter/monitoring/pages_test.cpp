// The pages are made from the real parts of the daemon: lists in a slot, a gate that decides messages.
#include "milter/monitoring/pages.hpp"

#include <regex>

#include "milter/connection.hpp"
#include "milter/monitoring/advice.hpp"
#include "milter/monitoring/decisions_plot.hpp"
#include "milter/monitoring/metrics_text.hpp"
#include "milter/monitoring/status_page.hpp"
#include "tests/milter/daemon_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/full_filter.hpp"

namespace bloomgate {
namespace {

// The daemon's parts, watched.
struct Watched {
  Watched() { parts.shared.monitor = &monitor; }

  void send(const std::string& sender, const char* from = nullptr, int forged_marks = 0) {
    ConnectionParts shared = parts.shared;
    shared.gate = &gate;
    Connection connection(std::make_shared<const ConnectionParts>(shared));
    connection.begin_message(sender, {});
    for (int i = 0; i < forged_marks; ++i) connection.message().add_header("X-Bloomgate", "deliver");
    if (from != nullptr) connection.message().add_header("From", from);
    connection.end_of_message({"Q1", ""});
  }

  std::string metrics() const { return metrics_text(monitor); }
  std::string html(bool with_senders = true) const { return status_page(monitor, with_senders); }

  test::Parts parts;
  std::uint64_t lost = 0;
  Monitor monitor{{.lists = parts.slot,
                   .results_missing = [this] { return parts.results.missing(); },
                   .lost_log_lines = [this] { return lost; }}};
  Gate gate{test::envelope_rules(), parts.slot, parts.results, parts.log.logger(), {[] {}, [] {}}, &monitor};
};

TEST_CASE("the figures count each message under its decision, reason, identity and whitelist") {
  Watched daemon;
  daemon.send("<joe@example.org>");
  daemon.send("<joe@example.org>");
  daemon.send("<a@corp.example>");
  daemon.send("<ann@example.org>");
  daemon.send("<>");
  daemon.send("<joe@example.org>", nullptr, 100'000);
  const std::string text = daemon.metrics();
  for (const char* const line : {
           "bloomgate_messages_total{decision=\"deliver\",reason=\"listed\",identity=\"envelope\",whitelist="
           "\"whitelist\"} 2\n",
           "bloomgate_messages_total{decision=\"deliver\",reason=\"listed-domain\",identity=\"envelope\",whitelist="
           "\"whitelist\"} 1\n",
           "bloomgate_messages_total{decision=\"check\",reason=\"not-listed\",identity=\"envelope\",whitelist="
           "\"none\"} 1\n",
           "bloomgate_messages_total{decision=\"check\",reason=\"null-sender\",identity=\"envelope\",whitelist="
           "\"none\"} 1\n",
           "bloomgate_refused_messages_total 1\n",
           "bloomgate_decision_seconds_count 5\n",
           "bloomgate_decision_seconds_bucket{le=\"+Inf\"} 5\n",
           "bloomgate_look_ups_total 4\n",
           "bloomgate_hits_total 2\n",
           "bloomgate_sessions_total 6\n",
           "bloomgate_sessions_open 0\n",
           "bloomgate_whitelist_entries{whitelist=\"whitelist\"} 2\n",
           "bloomgate_whitelist_usable{whitelist=\"whitelist\"} 1\n",
           "bloomgate_reloads_total{outcome=\"refused\"} 0\n",
           "bloomgate_log_lines_lost_total 0\n",
           "bloomgate_sessions_turned_away_total 0\n",
           "bloomgate_sessions_cut_off_total 0\n",
           "bloomgate_sessions_limit 0\n",
           "bloomgate_trusted_results_missing 0\n",
           "bloomgate_build_info{version=\"" BLOOMGATE_VERSION "\"} 1\n",
       }) {
    CHECK_THAT(text, Catch::Contains(line));
  }
}

TEST_CASE("no text of a message gets into the figures") {
  Watched daemon;
  daemon.send("<\"x\\\"} 1\nforged_total 1\n\"@evil.example>", "<b>@evil.example");
  daemon.send("<evil@evil.example>", "evil@evil.example");
  CHECK_THAT(daemon.metrics(), !Catch::Contains("evil") && !Catch::Contains("forged_total"));
}

// What Prometheus asks of the text: https://prometheus.io/docs/instrumenting/exposition_formats/
TEST_CASE("each line of the figures is a help, a type, or a sample of the family above it, with its unit") {
  Watched daemon;
  daemon.send("<joe@example.org>");
  std::istringstream lines(daemon.metrics());
  const std::regex help("# HELP (bloomgate_[a-z_]+) [A-Z].*\\.");
  const std::regex type("# TYPE (bloomgate_[a-z_]+) (counter|gauge|histogram)");
  const std::regex sample("(bloomgate_[a-z_]+)(\\{[a-z]+=\"[^\"\\\\]*\"(,[a-z]+=\"[^\"\\\\]*\")*\\})? [-+.0-9einf]+");
  std::string family, kind;
  int samples = 0;
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    std::smatch match;
    if (std::regex_match(line, match, help)) {
      family = match[1];
    } else if (std::regex_match(line, match, type)) {
      CHECK(match[1] == family);
      kind = match[2];
      CHECK(family.ends_with("_total") == (kind == "counter"));
      if (kind == "histogram") CHECK(family.ends_with("_seconds"));
    } else {
      REQUIRE(std::regex_match(line, match, sample));
      const std::string name = match[1];
      const bool belongs = kind == "histogram"
                               ? name == family + "_bucket" || name == family + "_sum" || name == family + "_count"
                               : name == family;
      CHECK(belongs);
      ++samples;
    }
  }
  CHECK(samples > 40);
}

TEST_CASE("figures report a damaged whitelist and a missing one") {
  Watched daemon;
  ListParts lists = daemon.parts.slot.get()->parts();
  lists.whitelists.front().filter->note_damage(Damage::spoiled);
  lists.whitelists.push_back({"late", nullptr});
  lists.revoked_is_lost = true;
  daemon.parts.slot.set(std::make_shared<const LoadedLists>(std::move(lists)));
  const std::string text = daemon.metrics();
  CHECK_THAT(text, Catch::Contains("bloomgate_whitelist_usable{whitelist=\"whitelist\"} 0\n") &&
                       Catch::Contains("bloomgate_whitelist_usable{whitelist=\"late\"} 0\n") &&
                       Catch::Contains("bloomgate_exact_list_lost{list=\"revoked\"} 1\n") &&
                       Catch::Contains("bloomgate_exact_list_lost{list=\"extra\"} 0\n"));
}

TEST_CASE("a hit that a store is asked about counts under the store's answer") {
  const test::PairFiles pair(test::numbered_addresses(0, 4096));
  Watched daemon;
  ListParts lists;
  lists.whitelists.push_back({"pair", pair.load()});
  const std::string stranger = test::false_positive_of(*lists.whitelists.front().filter);
  daemon.parts.slot.set(std::make_shared<const LoadedLists>(std::move(lists)));
  daemon.send("<" + stranger + ">");
  const std::string text = daemon.metrics();
  CHECK_THAT(text, Catch::Contains("bloomgate_confirmations_total{whitelist=\"pair\",answer=\"no\"} 1\n") &&
                       Catch::Contains("bloomgate_confirmation_seconds_count 1\n"));
}

TEST_CASE("the observed rate of false positives is shown beside the expected one, with advice if it is too high") {
  const test::TemporaryFolder folder;
  test::build_full_filter(folder.file("full.bloom"));
  Watched daemon;
  ListParts lists = daemon.parts.slot.get()->parts();
  lists.whitelists.push_back(
      {"full", std::make_shared<const LoadedFilter>(folder.file("full.bloom"), false, FilterCheck::header)});
  daemon.parts.slot.set(std::make_shared<const LoadedLists>(std::move(lists)));
  CHECK_THAT(daemon.html(), !Catch::Contains("observed"));
  for (int i = 0; i < 30; ++i) daemon.monitor.end_second();
  CHECK(advice_on(daemon.monitor).empty());
  daemon.monitor.end_second();
  CHECK_THAT(daemon.metrics(),
             Catch::Contains("bloomgate_whitelist_probes_total{whitelist=\"whitelist\"} 31\n") &&
                 Catch::Contains("bloomgate_whitelist_probe_hits_total{whitelist=\"whitelist\"} 0\n") &&
                 Catch::Contains("bloomgate_whitelist_probe_hits_total{whitelist=\"full\"} 31\n") &&
                 Catch::Contains("bloomgate_whitelist_probe_expected_ratio{whitelist=\"full\"} "));
  REQUIRE(advice_on(daemon.monitor).size() == 1);
  CHECK_THAT(advice_on(daemon.monitor).front().what,
             Catch::StartsWith("the bits of whitelist full have 31 of 31 random keys that no list can hold"));
  CHECK_THAT(daemon.html(), Catch::Contains("observed: 31 of 31 random keys, so 89\u202f% to 100\u202f%") &&
                                Catch::Contains("observed: 0 of 31 random keys, so 0\u202f% to 11\u202f%"));
}

TEST_CASE(
    "for a filter with its store the page shows the rate of the bits, observed and expected, beside that of both") {
  const test::PairFiles pair(test::numbered_addresses(0, 4096));
  Watched daemon;
  ListParts lists;
  lists.whitelists.push_back({"pair", pair.load()});
  daemon.parts.slot.set(std::make_shared<const LoadedLists>(std::move(lists)));
  daemon.monitor.end_second();
  const std::string html = daemon.html();
  // Near 2.16 %, as the seed of the filter has it.
  CHECK(std::regex_search(html, std::regex("observed before the store is asked, expected [12]\\.[0-9]")));
  CHECK_THAT(html, Catch::Contains("below 1 in 10^9"));
}

TEST_CASE("the share of spam in delivered mail is shown with its interval, and a high one needs action") {
  Watched daemon;
  CHECK_THAT(daemon.metrics(), Catch::Contains("bloomgate_delivery_samples_total{answer=\"spam\"} 0\n") &&
                                   Catch::Contains("bloomgate_delivery_sample_ratio 0\n") &&
                                   !Catch::Contains("\nbloomgate_delivered_spam"));
  CHECK_THAT(daemon.html(), !Catch::Contains("Delivered mail"));
  Tally& tally = daemon.monitor.tally();
  tally.set_sample_share(0.001);
  CHECK_THAT(daemon.html(), Catch::Contains("No sample was answered yet"));
  for (int i = 0; i < 99; ++i) tally.note_sample(SampleAnswer::ham);
  tally.note_sample(SampleAnswer::spam);
  tally.note_sample(SampleAnswer::failed);
  tally.note_sample(SampleAnswer::dropped);
  CHECK_THAT(daemon.metrics(), Catch::Contains("bloomgate_delivery_samples_total{answer=\"ham\"} 99\n") &&
                                   Catch::Contains("bloomgate_delivery_samples_total{answer=\"failed\"} 1\n") &&
                                   Catch::Contains("bloomgate_delivery_samples_total{answer=\"dropped\"} 1\n") &&
                                   Catch::Contains("bloomgate_delivery_sample_ratio 0.001\n") &&
                                   Catch::Contains("bloomgate_delivered_spam_ratio 0.01\n") &&
                                   Catch::Contains("bloomgate_delivered_spam_lower_ratio 0.0017") &&
                                   Catch::Contains("bloomgate_delivered_spam_upper_ratio 0.054"));
  // One in a hundred is 0.2 % at least: by chance so high, perhaps.
  CHECK(advice_on(daemon.monitor).empty());
  CHECK_THAT(daemon.html(), Catch::Contains("1 of 100 samples, so 0.177\u202f% to 5.45\u202f%") &&
                                Catch::Contains("2 samples were not answered"));
  for (int i = 0; i < 9; ++i) tally.note_sample(SampleAnswer::spam);
  const std::vector<Advice> advice = advice_on(daemon.monitor);
  REQUIRE(advice.size() == 1);
  CHECK_THAT(advice[0].what, Catch::Contains("of 109 delivered messages that were sampled the checker calls 10 spam"));
  CHECK_THAT(advice[0].how, Catch::Contains("bloomgate report"));
}

TEST_CASE("a minute is over after each 60 seconds") {
  Watched daemon;
  for (int second = 1; second <= 120; ++second) {
    daemon.monitor.end_second();
    CHECK(daemon.monitor.minutes().size() == static_cast<std::size_t>(second / 60));
  }
}

TEST_CASE("figures and advice show a reload, and why it was refused") {
  Watched daemon;
  daemon.monitor.note_reload(true);
  daemon.monitor.set_standing({});
  CHECK_THAT(daemon.metrics(), Catch::Contains("bloomgate_reloads_total{outcome=\"accepted\"} 1\n") &&
                                   Catch::Contains("bloomgate_last_reload_refused 0\n"));
  daemon.monitor.note_reload(false);
  daemon.monitor.set_standing({.waits_for_restart = "socket", .refused_reload = "w.bloom: <bad>"});
  CHECK_THAT(daemon.metrics(), Catch::Contains("bloomgate_reloads_total{outcome=\"refused\"} 1\n") &&
                                   Catch::Contains("bloomgate_last_reload_refused 1\n") &&
                                   Catch::Contains("bloomgate_waits_for_restart 1\n"));
  CHECK_THAT(daemon.html(), Catch::Contains("the last reload was refused: w.bloom: &lt;bad&gt;") &&
                                Catch::Contains("waits for a restart: socket") &&
                                Catch::Contains("systemctl restart bloomgate-milter"));
}

TEST_CASE("a whitelist that is not loaded yet is named, and those that are loaded are not") {
  Watched daemon;
  ListParts lists = daemon.parts.slot.get()->parts();
  lists.whitelists.push_back({"late", nullptr});
  daemon.parts.slot.set(std::make_shared<const LoadedLists>(std::move(lists)));
  const std::vector<Advice> advice = advice_on(daemon.monitor);
  REQUIRE(advice.size() == 1);
  CHECK(advice[0].what == "whitelist late is not loaded: it lists nobody");
}

TEST_CASE("the page says that nothing needs action, or what does") {
  Watched daemon;
  CHECK(advice_on(daemon.monitor).empty());
  CHECK_THAT(daemon.html(), Catch::Contains("<h2>Needs action</h2><p>Nothing.</p>"));
  daemon.lost = 12;
  for (unsigned i = 0; i < ResultsWatch::kMissedUntilWarning; ++i) daemon.parts.results.note(false);
  daemon.parts.slot.set(std::make_shared<const LoadedLists>());
  const std::string html = daemon.html();
  CHECK_THAT(html, Catch::Contains("12 log lines were lost since the start") &&
                       Catch::Contains("had an Authentication-Results field that is trusted") &&
                       Catch::Contains("no whitelist is loaded: all mail is sent to the deeper checks"));
}

TEST_CASE("the page shows the last decisions with masked addresses, or none where others could read it") {
  Watched daemon;
  daemon.send("<joe@example.org>", "Joe <joe.smith@example.com>");
  daemon.send("<joe@example.org>", nullptr, 100'000);
  const std::string html = daemon.html();
  CHECK_THAT(html, Catch::Contains("j\u2026@example.org") && Catch::Contains("j\u2026@example.com") &&
                       Catch::Contains("<b class=\"refuse\">refuse</b> forged-fields") && !Catch::Contains("joe"));
  CHECK_THAT(daemon.html(false), !Catch::Contains("\u2026@example") && Catch::Contains("unix socket only"));
}

TEST_CASE("nothing that a message holds becomes HTML") {
  Watched daemon;
  for (const char* const domain : {"<script>alert(1)</script>", "\"onload='x'", "a&lt;b", "\x1b[2J\n\r\t", "\u202e"}) {
    daemon.send("<x@" + std::string(domain) + ">", ("x@" + std::string(domain)).c_str());
  }
  daemon.send("<&x@example.org>", "&x@example.net");  // what is shown of a local part
  const std::string html = daemon.html();
  CHECK_THAT(html, Catch::Contains("&amp;\u2026@example.org") && Catch::Contains("From: &amp;\u2026@example.net"));
  CHECK_THAT(html, !Catch::Contains("<script") && !Catch::Contains("\"onload") && !Catch::Contains("\x1b") &&
                       !Catch::Contains("\u202e"));
  CHECK_THAT(html, Catch::Contains("&lt;script&gt;") && Catch::Contains("&quot;onload=&#39;x&#39;") &&
                       Catch::Contains("a&amp;lt;b"));
}

TEST_CASE("a minute counts the messages since the one before, and the ring holds one day of minutes") {
  MinuteRing minutes;
  CHECK(minutes.size() == 0);
  for (std::uint64_t i = 1; i <= MinuteRing::kMinutes + 5; ++i) minutes.close({i * i, 10 * i, 0});
  CHECK(minutes.size() == MinuteRing::kMinutes);
  const std::uint64_t last = MinuteRing::kMinutes + 5;
  CHECK(minutes.ago(0) == MessageCounts{2 * last - 1, 10, 0});
  CHECK(minutes.ago(MinuteRing::kMinutes - 1) == MessageCounts{2 * 6 - 1, 10, 0});
}

TEST_CASE("the picture has a bar for each minute at first, and then for each quarter of an hour") {
  MinuteRing minutes;
  CHECK_THAT(decisions_plot(minutes), Catch::Contains("begins with the first full minute"));
  minutes.close({3, 0, 0});
  minutes.close({3, 1, 0});
  const std::string young = decisions_plot(minutes);
  CHECK_THAT(young, Catch::Contains("at most 3 in a minute") && Catch::Contains("height=\"120.00\"") &&
                        Catch::Contains("class=\"c\"") && Catch::Contains("height=\"40.00\"") &&
                        !Catch::Contains("class=\"r\""));
  for (int i = 0; i < 95; ++i) minutes.close({3, 1, 2});
  const std::string old = decisions_plot(minutes);
  // All of it came 94 to 96 minutes ago, in one quarter of an hour.
  CHECK_THAT(old, Catch::Contains("at most 6 in 15 minutes") && Catch::Contains("The last 24 hours") &&
                      !Catch::Contains("nan") && !Catch::Contains("inf"));
  MinuteRing silent;
  silent.close({});
  CHECK_THAT(decisions_plot(silent), Catch::Contains("<svg") && !Catch::Contains("<rect") && !Catch::Contains("nan"));
}

TEST_CASE("there are two pages, and a local address serves them only under a name of this machine") {
  Watched daemon;
  const auto status = [&](std::string_view target, std::string_view host, bool is_local) {
    return page(daemon.monitor, {target, host}, is_local).status;
  };
  CHECK(status("/", "localhost", true) == 200);
  CHECK(status("/metrics", "127.0.0.1:9812", true) == 200);
  CHECK(status("/metrics?x=y", "", true) == 200);
  CHECK(status("/metrics/", "localhost", true) == 404);
  CHECK(status("/../etc/passwd", "localhost", true) == 404);
  CHECK(status("", "localhost", true) == 404);
  CHECK(status("/metrics", "attacker.example", true) == 421);
  CHECK(status("/metrics", "mail.example.org:9812", false) == 200);
  CHECK(page(daemon.monitor, {"/", "localhost"}, true).content_type == "text/html; charset=utf-8");
  CHECK_THAT(page(daemon.monitor, {"/metrics", ""}, true).content_type, Catch::StartsWith("text/plain; version=0.0.4"));
}

}  // namespace
}  // namespace bloomgate
