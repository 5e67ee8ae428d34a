// The pages are made from the real parts of the daemon: lists in a slot, a judge that decides messages.
#include "milter/monitoring/pages.hpp"

#include <regex>
#include <set>

#include "milter/glue/connection.hpp"
#include "milter/monitoring/health_of_daemon.hpp"
#include "milter/monitoring/metrics_text.hpp"
#include "milter/monitoring/reason_meaning.hpp"
#include "milter/monitoring/status_page.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/full_filter.hpp"

namespace bloomgate::test {
namespace {

// The daemon's parts, watched.
struct Watched {
  Watched() {
    parts.shared.monitor = &monitor;
    monitor.set_standing({});
    set_whitelists({});
  }

  // As they are configured.
  void set_whitelists(std::vector<WhitelistSource> whitelists, const std::string& host = "") {
    DaemonCommand settings;
    settings.options = read_daemon_command({"--config", "/dev/null"}).options;
    settings.options.whitelists = std::move(whitelists);
    settings.options.host_name = host;
    monitor.set_settings(std::move(settings));
  }

  std::vector<std::string> found() const {
    std::vector<std::string> all;
    for (const HealthFinding& each : needs_action(monitor)) all.push_back(each.what);
    return all;
  }

  void send(const std::string& sender, const char* from = nullptr, int forged_marks = 0) {
    ConnectionParts shared = parts.shared;
    shared.judge = &judge;
    shared.record = &record;
    Connection connection(std::make_shared<const ConnectionParts>(shared));
    connection.begin_message(sender, {});
    for (int i = 0; i < forged_marks; ++i) connection.message().add_header("X-Bloomgate", "deliver");
    if (from != nullptr) connection.message().add_header("From", from);
    connection.end_of_message({"Q1", ""});
  }

  std::string metrics() const { return metrics_text(monitor); }
  std::string html(bool with_senders = true) const { return status_page(monitor, with_senders, true); }

  Parts parts;
  std::uint64_t lost = 0;
  Learner::Status learning;
  Monitor monitor{{.lists = parts.slot,
                   .results_missing = [this] { return parts.results.missing(); },
                   .learning = [this] { return learning; },
                   .lost_log_lines = [this] { return lost; }}};
  Record record{parts.log.logger(), &monitor};
  Judge judge{envelope_rules(), parts.slot, parts.results, record, {[] {}, [] {}}};
};

TEST_CASE_METHOD(Watched, "the figures count each message under its decision, reason, identity and whitelist") {
  send("<joe@example.org>");
  send("<joe@example.org>");
  send("<a@corp.example>");
  send("<ann@example.org>");
  send("<>");
  send("<joe@example.org>", nullptr, 100'000);
  const std::string text = metrics();
  for (const char* const line : {
           "bloomgate_messages_total{decision=\"deliver\",reason=\"listed\",identity=\"envelope\",whitelist="
           "\"whitelist\"} 2\n",
           "bloomgate_messages_total{decision=\"deliver\",reason=\"listed-domain\",identity=\"envelope\",whitelist="
           "\"whitelist\"} 1\n",
           "bloomgate_messages_total{decision=\"check\",reason=\"not-listed\",identity=\"envelope\",whitelist="
           "\"none\"} 1\n",
           "bloomgate_messages_total{decision=\"check\",reason=\"null-sender\",identity=\"envelope\",whitelist="
           "\"none\"} 1\n",
           "bloomgate_messages_total{decision=\"refuse\",reason=\"forged-fields\",identity=\"none\",whitelist=\"none\"}"
           " 1\n",
           "bloomgate_decisions_total{decision=\"deliver\"} 3\n",
           "bloomgate_decisions_total{decision=\"check\"} 2\n",
           "bloomgate_decisions_total{decision=\"exempt\"} 0\n",
           "bloomgate_decisions_total{decision=\"refuse\"} 1\n",
           "bloomgate_decision_seconds_count 5\n",
           "bloomgate_decision_seconds_bucket{le=\"+Inf\"} 5\n",
           "bloomgate_look_ups_total 4\n",
           "bloomgate_hits_total 2\n",
           "bloomgate_sessions_total 6\n",
           "bloomgate_sessions_open 0\n",
           "bloomgate_whitelist_entries{whitelist=\"whitelist\"} 2\n",
           "bloomgate_whitelist_usable{whitelist=\"whitelist\"} 1\n",
           "bloomgate_key_lookups_total{outcome=\"not-asked\"} 0\n",
           "bloomgate_key_lookup_seconds_count 0\n",
           "bloomgate_reloads_total{outcome=\"refused\"} 0\n",
           "bloomgate_log_lines_lost_total 0\n",
           "bloomgate_sessions_turned_away_total{cause=\"limit\"} 0\n",
           "bloomgate_sessions_turned_away_total{cause=\"descriptors\"} 0\n",
           "bloomgate_sessions_cut_off_total 0\n",
           "bloomgate_sessions_malformed_total 0\n",
           "bloomgate_sessions_limit 0\n",
           "bloomgate_posted_messages_refused_total{status=\"none\"} 0\n",
           "bloomgate_posted_messages_refused_total{status=\"503\"} 0\n",
           "bloomgate_build_info{version=\"" BLOOMGATE_VERSION "\"} 1\n",
       }) {
    CHECK_THAT(text, Contains(line));
  }
}

TEST_CASE_METHOD(Watched, "no text of a message gets into the figures") {
  send("<\"x\\\"} 1\nforged_total 1\n\"@evil.example>", "<b>@evil.example");
  send("<evil@evil.example>", "evil@evil.example");
  CHECK_THAT(metrics(), !Contains("evil") && !Contains("forged_total"));
}

// What Prometheus asks of the text: https://prometheus.io/docs/instrumenting/exposition_formats/
TEST_CASE_METHOD(Watched,
                 "each line of the figures is a help, a type, or a sample of the family above it, with its unit") {
  send("<joe@example.org>");
  std::istringstream lines(metrics());
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

TEST_CASE_METHOD(Watched, "figures report a damaged whitelist and a missing one") {
  ListParts lists = parts.slot.get()->parts();
  lists.whitelists.front().filter->note_damage(Damage::spoiled);
  lists.whitelists.push_back({"late", nullptr});
  lists.revoked.is_lost = true;
  lists.opt_out.is_lost = true;
  lists.extra.list = std::make_shared<const ExactList>();
  lists.extra.left_out = 2;
  parts.set_lists(std::move(lists));
  const std::string text = metrics();
  CHECK_THAT(text, Contains("bloomgate_whitelist_usable{whitelist=\"whitelist\"} 0\n") &&
                       Contains("bloomgate_whitelist_usable{whitelist=\"late\"} 0\n") &&
                       Contains("bloomgate_needs_action{rule=\"exact-list-lost\",severity=\"page\"} 2\n") &&
                       Contains("bloomgate_needs_action{rule=\"exact-list-lines-left-out\",severity=\"ticket\"} 1\n"));
}

TEST_CASE_METHOD(Watched, "what became of signatures is counted by their outcome") {
  Decision decision = {.verdict = Verdict::check, .reason = Reason::not_authenticated};
  decision.signature = SignatureOutcome::field_added_reply_to;
  monitor.note_message({}, decision, "", 0);
  const std::string text = metrics();
  CHECK_THAT(text, Contains("bloomgate_signatures_total{outcome=\"field-added-reply-to\"} 1\n"));
  CHECK_THAT(text, !Contains("outcome=\"pass\""));
}

TEST_CASE_METHOD(Watched, "the figures say how many pairs were learned, renewed, and left out for which reason") {
  learning = {.pairs = 1,
              .bytes = 2,
              .learned = 3,
              .renewed = 4,
              .over_rate = 5,
              .over_exempt_rate = 6,
              .no_room = 7,
              .not_stored = 8};
  const std::string text = metrics();
  for (const char* const line :
       {"bloomgate_learned_pairs 1\n", "bloomgate_learned_memory_bytes 2\n", "bloomgate_learned_total 3\n",
        "bloomgate_learned_renewed_total 4\n", "bloomgate_not_learned_total{reason=\"rate\"} 5\n",
        "bloomgate_not_learned_total{reason=\"exempt-rate\"} 6\n",
        "bloomgate_not_learned_total{reason=\"no-room\"} 7\n",
        "bloomgate_not_learned_total{reason=\"no-database\"} 8\n"}) {
    CHECK_THAT(text, Contains(line));
  }
}

TEST_CASE_METHOD(Watched, "a hit that a store is asked about counts under the store's answer") {
  const PairFiles pair(numbered_addresses(0, 4096));
  parts.set_only_whitelist({"pair", pair.load()});
  send("<" + false_positive_of(*pair.load()) + ">");
  const std::string text = metrics();
  CHECK_THAT(text, Contains("bloomgate_confirmations_total{whitelist=\"pair\",answer=\"no\"} 1\n") &&
                       Contains("bloomgate_confirmation_seconds_count 1\n"));
}

TEST_CASE_METHOD(
    Watched,
    "the observed rate of false positives is shown beside the expected one, which needs action if it is too high") {
  const TemporaryFolder folder;
  build_full_filter(folder.file("full.bloom"));
  parts.add_whitelist(
      {"full", std::make_shared<const LoadedFilter>(folder.file("full.bloom"), false, FilterCheck::header)});
  set_whitelists({{.name = "full", .path = folder.file("full.bloom")}});
  CHECK_THAT(html(), !Contains("observed"));
  for (int i = 0; i < 30; ++i) monitor.end_second();
  CHECK_FALSE(std::ranges::any_of(
      found(), [](const std::string& what) { return what.find("random keys") != std::string::npos; }));
  monitor.end_second();
  CHECK_THAT(metrics(), Contains("bloomgate_whitelist_probes_total{whitelist=\"whitelist\"} 31\n") &&
                            Contains("bloomgate_whitelist_probe_hits_total{whitelist=\"whitelist\"} 0\n") &&
                            Contains("bloomgate_whitelist_probe_hits_total{whitelist=\"full\"} 31\n") &&
                            Contains("bloomgate_whitelist_probe_expected_ratio{whitelist=\"full\"} "));
  REQUIRE_FALSE(found().empty());
  CHECK_THAT(found().front(), StartsWith("the bits of whitelist full have 31 of 31 random keys that no list can hold"));
  // What so few show of a rate is nothing that a person could use.
  CHECK_THAT(html(), Contains("observed: too few, 31 random keys, were looked up so far"));
  for (int i = 31; i < 1000; ++i) monitor.end_second();
  CHECK_THAT(html(), Contains("observed: 1,000 of 1,000 random keys, so 99.6\u202f% to 100\u202f%") &&
                         Contains("observed: 0 of 1,000 random keys, so 0\u202f% to 0.383\u202f%"));
}

TEST_CASE_METHOD(
    Watched,
    "for a filter with its store the page shows the rate of the bits, observed and expected, beside that of both") {
  const PairFiles pair(numbered_addresses(0, 4096));
  parts.set_only_whitelist({"pair", pair.load()});
  for (int i = 0; i < 1000; ++i) monitor.end_second();
  const std::string page = html();
  // Near 2.16 %, as the seed of the filter has it.
  CHECK(std::regex_search(page, std::regex("observed before the store is asked, expected [12]\\.[0-9]")));
  CHECK_THAT(
      page, Contains("below 1 in 10^9") && Contains(">false positives, a look-up</span>") && Contains(" ago, loaded "));
}

TEST_CASE_METHOD(Watched,
                 "the share of spam in delivered mail is shown with its interval, and a high one needs action") {
  CHECK_THAT(metrics(), Contains("bloomgate_delivery_samples_total{answer=\"spam\"} 0\n") &&
                            Contains("bloomgate_delivery_sample_ratio 0\n") && !Contains("\nbloomgate_delivered_spam"));
  CHECK_THAT(html(), !Contains("Delivered mail"));
  Tally& tally = monitor.tally();
  tally.set_sample_share(0.001);
  CHECK_THAT(html(), Contains("No sample was answered yet"));
  for (int i = 0; i < 99; ++i) tally.note_sample(SampleAnswer::ham);
  tally.note_sample(SampleAnswer::spam);
  tally.note_sample(SampleAnswer::failed);
  tally.note_sample(SampleAnswer::dropped);
  CHECK_THAT(metrics(), Contains("bloomgate_delivery_samples_total{answer=\"ham\"} 99\n") &&
                            Contains("bloomgate_delivery_samples_total{answer=\"failed\"} 1\n") &&
                            Contains("bloomgate_delivery_samples_total{answer=\"dropped\"} 1\n") &&
                            Contains("bloomgate_delivery_sample_ratio 0.001\n") &&
                            Contains("bloomgate_delivered_spam_ratio 0.01\n") &&
                            Contains("bloomgate_delivered_spam_lower_ratio 0.0017") &&
                            Contains("bloomgate_delivered_spam_upper_ratio 0.054"));
  // One in a hundred is 0.2 % at least: by chance so high, perhaps.
  CHECK(found().empty());
  CHECK_THAT(html(),
             Contains("1 of 100 samples, so 0.177\u202f% to 5.45\u202f%") && Contains("2 samples were not answered"));
  for (int i = 0; i < 9; ++i) tally.note_sample(SampleAnswer::spam);
  REQUIRE(found().size() == 1);
  CHECK_THAT(found()[0],
             StartsWith("of 109 delivered messages that were sampled in the last day the checker calls 10 spam"));
  CHECK_THAT(html(), Contains("bloomgate report --since 24h"));
}

TEST_CASE_METHOD(Watched, "a reload is counted, and needs action if it was refused") {
  monitor.note_reload(true);
  monitor.set_standing({});
  CHECK_THAT(metrics(), Contains("bloomgate_reloads_total{outcome=\"accepted\"} 1\n") &&
                            Contains("bloomgate_needs_action{rule=\"reload-refused\",severity=\"ticket\"} 0\n"));
  monitor.note_reload(false);
  monitor.set_standing({.waits_for_restart = "socket", .refused_reload = "w.bloom: <bad>"});
  CHECK_THAT(metrics(), Contains("bloomgate_reloads_total{outcome=\"refused\"} 1\n") &&
                            Contains("bloomgate_needs_action{rule=\"reload-refused\",severity=\"ticket\"} 1\n") &&
                            Contains("bloomgate_needs_action{rule=\"waits-for-restart\",severity=\"notice\"} 1\n"));
  CHECK_THAT(html(), Contains("what was in use before still is: w.bloom: &lt;bad&gt;") &&
                         Contains("options have changed that a reload cannot take in: socket") &&
                         Contains("systemctl restart bloomgate-milter"));
}

TEST_CASE_METHOD(Watched, "what has failed of the last bloomgate-update is shown until a run goes well") {
  const TemporaryFolder folder;
  const std::string path = folder.file("w.bloom");
  set_whitelists({{.name = "w", .path = path}, {.name = "x", .path = folder.file("x")}});
  CHECK_THAT(metrics(), Contains("bloomgate_needs_action{rule=\"update-fails\",severity=\"ticket\"} 0\n"));
  write_file(path + ".update", "2026-11-20T03:00:00Z\t2026-11-26T03:00:00Z\tharvest\t66\tno <file>\x1b\n");
  CHECK_THAT(metrics(), Contains("bloomgate_needs_action{rule=\"update-fails\",severity=\"ticket\"} 1\n"));
  CHECK_THAT(html(), Contains("bloomgate-update: harvest has failed since 2026-11-20T03:00:00Z, last at "
                              "2026-11-26T03:00:00Z: no &lt;file&gt;\\x1b") &&
                         Contains("journalctl -u bloomgate-update"));
}

TEST_CASE_METHOD(Watched, "a whitelist that is not loaded yet is named, and those that are loaded are not") {
  parts.add_whitelist({"late", nullptr});
  set_whitelists({{.name = "late", .path = "/nonexistent/late.bloom"}});
  CHECK(found() == std::vector<std::string>{"whitelist late: it is not loaded: it lists no sender"});
}

TEST_CASE_METHOD(Watched, "the page says that nothing needs action, or what does") {
  CHECK(found().empty());
  CHECK_THAT(html(), Contains("<h2>Needs action</h2><p>Nothing: all is well.</p>"));
  CHECK(findings_json(needs_action(monitor), true).dump(-1) == "[]");
  CHECK_THAT(metrics(), !Contains("bloomgate_needs_action{rule=\"log-lines-lost\",severity=\"ticket\"} 1\n"));
  lost = 12;
  for (unsigned i = 0; i < ResultsWatch::kMissedUntilWarning; ++i) parts.results.note(false);
  const std::string page = html();
  CHECK_THAT(page, Contains("<b>soon</b> the log has lost 12 lines in the last hour") &&
                       Contains("<b>urgent</b> none of the last 1000 messages had trusted results"));
  CHECK_THAT(findings_json(needs_action(monitor), true).dump(2),
             Contains("\"rule\": \"log-lines-lost\"") && Contains("\"severity\": \"page\""));
  CHECK_THAT(metrics(), Contains("bloomgate_needs_action{rule=\"log-lines-lost\",severity=\"ticket\"} 1\n") &&
                            Contains("bloomgate_needs_action{rule=\"results-missing\",severity=\"page\"} 1\n") &&
                            Contains("bloomgate_needs_action{rule=\"whitelist-old\",severity=\"ticket\"} 0\n"));
}

TEST_CASE_METHOD(Watched, "the page says what a whitelist lacks that does not know the domains of its senders") {
  CHECK_THAT(html(), Contains("It keeps no domains of its senders"));
  const TemporaryFolder folder;
  build_filter(folder.file("whitelist.bloom"), {"joe@example.org"}, {.sender_domains = true});
  const auto filter = std::make_shared<const LoadedFilter>(folder.file("whitelist.bloom"), false);
  parts.slot.set(std::make_shared<const LoadedLists>(ListParts{.whitelists = {{"whitelist", filter}}}));
  CHECK_THAT(html(), !Contains("It keeps no domains") && Contains(", and none at domains without a listed address"));
}

TEST_CASE_METHOD(Watched,
                 "the page shows the last decisions with masked addresses, or none where others could read it") {
  send("<joe@example.org>", "Joe <joe.smith@example.com>");
  send("<joe@example.org>", nullptr, 100'000);
  const std::string page = html();
  CHECK_THAT(page, Contains("j\u2026@example.org") && Contains("j\u2026@example.com") &&
                       Contains("<b class=\"refuse\">refuse</b></th>") &&
                       Contains("<a href=\"/reasons#forged-fields\">forged-fields</a>, From: ") && !Contains("joe"));
  CHECK_THAT(html(false), !Contains("\u2026@example") && Contains("unix socket only"));
}

TEST_CASE_METHOD(Watched, "nothing that a message holds becomes HTML") {
  for (const char* const domain : {"<script>alert(1)</script>", "\"onload='x'", "a&lt;b", "\x1b[2J\n\r\t", "\u202e"}) {
    send("<x@" + std::string(domain) + ">", ("x@" + std::string(domain)).c_str());
  }
  send("<&x@example.org>", "&x@example.net");  // what is shown of a local part
  const std::string page = html();
  CHECK_THAT(page, Contains("&amp;\u2026@example.org") && Contains("From: &amp;\u2026@example.net"));
  CHECK_THAT(page, !Contains("<script") && !Contains("\"onload") && !Contains("\x1b") && !Contains("\u202e"));
  CHECK_THAT(page, Contains("&lt;script&gt;") && Contains("&quot;onload=&#39;x&#39;") && Contains("a&amp;lt;b"));
}

TEST_CASE_METHOD(Watched, "each page has its address, and a local socket serves it only under a name of this machine") {
  const auto status = [&](std::string_view target, std::string_view host, bool is_local) {
    return page(monitor, {target, host}, is_local).status;
  };
  CHECK(status("/", "localhost", true) == 200);
  CHECK(status("/metrics", "127.0.0.1:9812", true) == 200);
  CHECK(status("/metrics?x=y", "", true) == 200);
  CHECK(status("/needs-action", "localhost", true) == 200);
  CHECK(status("/metrics/", "localhost", true) == 404);
  CHECK(status("/../etc/passwd", "localhost", true) == 404);
  CHECK(status("", "localhost", true) == 404);
  CHECK(status("/metrics", "attacker.example", true) == 421);
  CHECK(status("/metrics", "mail.example.org:9812", false) == 200);
  CHECK(page(monitor, {"/", "localhost"}, true).content_type == "text/html; charset=utf-8");
  CHECK_THAT(page(monitor, {"/metrics", ""}, true).content_type, StartsWith("text/plain; version=0.0.4"));
}

TEST_CASE_METHOD(Watched,
                 "the page says of which machine and time its figures are, and comes again until that is stopped") {
  set_whitelists({}, "mx1.example.org");
  const std::string page = html();
  CHECK_THAT(page, Contains("<h1>Bloomgate on mx1.example.org</h1>") && Contains("Figures of 20") &&
                       Contains("<meta http-equiv=\"refresh\" content=\"30\">") &&
                       Contains("<a href=\"/?refresh=no\">stop</a>"));
  for (const char* const target : {"/?x=y&refresh=no", "/?refresh=no&x"}) {
    CHECK_THAT(bloomgate::page(monitor, {target, "localhost"}, true).body, !Contains("http-equiv"));
  }
  CHECK_THAT(bloomgate::page(monitor, {"/?a?refresh=no", "localhost"}, true).body, Contains("http-equiv"));
  const std::string still = bloomgate::page(monitor, {"/?refresh=no", "localhost"}, true).body;
  CHECK_THAT(still, !Contains("http-equiv") && Contains("<a href=\"/\">Let the page come again by itself</a>"));
}

TEST_CASE_METHOD(Watched, "each reason has a sentence, and the page of the reasons has them all") {
  const std::string page = reasons_page();
  std::set<std::string_view> sentences;
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    const std::string_view meaning = reason_meaning(reason);
    CAPTURE(reason_name(reason), meaning);
    CHECK((meaning.ends_with('.') && meaning.front() >= 'A' && meaning.front() <= 'Z'));
    CHECK(sentences.insert(meaning).second);
    CHECK_THAT(page, Contains("<tr id=\"" + std::string(reason_name(reason)) + "\">"));
  }
  CHECK_THAT(page, Contains("<tr id=\"forged-fields\">"));
  send("<joe@example.org>");
  CHECK_THAT(html(), Contains("<a href=\"/reasons#listed\">listed</a><br><span class=\"soft\">The sender is an entry"));
}

TEST_CASE_METHOD(Watched,
                 "the time that decisions take is told by the classes that half of them and 99 of 100 keep to") {
  CHECK_THAT(html(), Contains("<b>none yet</b><span class=\"soft\">decisions whose time is known"));
  const Decision decision = {.verdict = Verdict::deliver, .reason = Reason::listed};
  for (int i = 0; i < 98; ++i) monitor.note_message({}, decision, "", 20e-6);
  for (int i = 0; i < 2; ++i) monitor.note_message({}, decision, "", 5e-3);
  CHECK_THAT(html(), Contains("<b>25\u202f\u00b5s</b><span class=\"soft\">or less, for half") &&
                         Contains("<b>10\u202fms</b><span class=\"soft\">or less, for 99 of 100"));
  CHECK_THAT(page(monitor, {"/status.json", ""}, true).body, Contains("\"p50\": 2.5e-05") && Contains("\"p99\": 0.01"));
  for (int i = 0; i < 10; ++i) monitor.note_message({}, decision, "", 30);
  CHECK_THAT(html(), Contains("<b>over 1\u202fs</b><span class=\"soft\">for 99 of 100 decisions"));
}

TEST_CASE_METHOD(Watched,
                 "health is 200 until mail is not decided as it should be, and then names the rules that fail") {
  lost = 12;  // a ticket
  const HttpAnswer well = page(monitor, {"/health", ""}, true);
  CHECK(well.status == 200);
  CHECK(Json::parse(well.body).at("failing").elements().empty());
  ListParts lists = parts.slot.get()->parts();
  lists.revoked.is_lost = true;
  parts.set_lists(std::move(lists));
  const HttpAnswer failing = page(monitor, {"/health", ""}, true);
  CHECK(failing.status == 503);
  const Json said = Json::parse(failing.body);
  CHECK(said.at("status").text() == "failing");
  REQUIRE(said.at("failing").elements().size() == 1);
  CHECK(said.at("failing").elements()[0].at("rule").text() == "exact-list-lost");
}

TEST_CASE_METHOD(Watched, "the status for programs has the figures of the page") {
  send("<joe@example.org>");
  send("<nobody@example.net>");
  monitor.end_second();
  const Json status = Json::parse(page(monitor, {"/status.json", ""}, true).body);
  CHECK(status.at("messages").at("since_start").at("deliver").number() == 1.0);
  CHECK(status.at("messages").at("since_start").at("check").number() == 1.0);
  CHECK(status.at("messages").at("today").at("deliver").number() == 1.0);
  CHECK(status.at("version").text() == BLOOMGATE_VERSION);
  REQUIRE(status.at("reasons").elements().size() == 2);
  REQUIRE(status.at("whitelists").elements().size() == 1);
  CHECK(status.at("whitelists").elements()[0].at("name").text() == "whitelist");
  CHECK(status.at("needs_action").is_array());
}

TEST_CASE_METHOD(Watched, "of the last decisions fifteen are shown, with their queue IDs, and the others on demand") {
  const Decision decision = {.verdict = Verdict::deliver, .reason = Reason::listed};
  for (int i = 0; i < 20; ++i) monitor.note_message({}, decision, "4XyZ" + std::to_string(i), 0);
  const std::string page = html();
  const std::size_t older = page.find("<a href=\"/?refresh=no#older\">5 older ones</a>");
  REQUIRE(older != std::string::npos);
  CHECK(page.find("4XyZ19<") < page.find("4XyZ5<"));
  CHECK(page.find("4XyZ5<") < older);
  CHECK(page.find("4XyZ4<") == std::string::npos);
  const std::string all = status_page(monitor, true, false);
  CHECK(all.find("<div id=\"older\">") < all.find("4XyZ4<"));
  CHECK(all.find("4XyZ0<") != std::string::npos);
}

TEST_CASE_METHOD(Watched, "messages that only a name below the sender's domain has signed are counted") {
  CHECK_THAT(metrics(), Contains("bloomgate_child_signed_messages_total 0\n"));
  Decision decision = {.verdict = Verdict::check, .reason = Reason::not_authenticated};
  monitor.note_message({}, decision, "", 0);
  decision.child_signer.domain.append("mg.example.org");
  monitor.note_message({}, decision, "", 0);
  CHECK_THAT(metrics(), Contains("bloomgate_child_signed_messages_total 1\n"));
}

TEST_CASE_METHOD(Watched, "a listed domain that nothing ever proved is named where only this machine sees it") {
  Facts facts;
  facts.header_from.address = "joe@Shop.example";
  Decision decision = {
      .verdict = Verdict::check, .reason = Reason::not_authenticated, .identity = IdentityKind::header_from};
  decision.list.append("whitelist");
  decision.signature = SignatureOutcome::no_signature;
  for (std::uint64_t i = 1; i < UnprovenDomains::kFewest; ++i) monitor.note_message(facts, decision, "", 0);
  CHECK(found().empty());
  monitor.note_message(facts, decision, "", 0);
  CHECK(found() == std::vector<std::string>{"1 listed domain has sent mail, and nothing ever proved it, so it was "
                                            "checked"});
  CHECK_THAT(html(true), Contains("shop.example (5 messages, the last: no-signature)"));
  CHECK_THAT(html(false), !Contains("shop.example"));
  CHECK_THAT(findings_json(needs_action(monitor), true).dump(2), Contains("shop.example"));
  CHECK_THAT(findings_json(needs_action(monitor), false).dump(2), !Contains("shop.example"));
  // Other lists may not have it.
  monitor.note_reload(true);
  CHECK(found().empty());
  for (std::uint64_t i = 0; i < UnprovenDomains::kFewest; ++i) monitor.note_message(facts, decision, "", 0);
  CHECK(found().size() == 1);
  // A forger does not make a domain that also sends proven mail one of these.
  decision = {.verdict = Verdict::deliver, .reason = Reason::listed, .identity = IdentityKind::header_from};
  decision.method = AuthenticationMethod::dkim;
  monitor.note_message(facts, decision, "", 0);
  CHECK(found().empty());
}

TEST_CASE_METHOD(Watched, "of a listed tree, all domains below it that nothing ever proved are one") {
  Facts facts;
  Decision decision = {
      .verdict = Verdict::check, .reason = Reason::not_authenticated, .identity = IdentityKind::header_from};
  decision.list.append("whitelist");
  decision.entry.append("@.wide.example");
  for (std::size_t i = 0; i < 2 * UnprovenDomains::kDomains; ++i) {
    facts.header_from.address = "joe@a" + std::to_string(i) + ".wide.example";
    monitor.note_message(facts, decision, "", 0);
  }
  CHECK_THAT(html(true), Contains("@.wide.example (512 messages, the last: no trusted result)"));
}

TEST_CASE_METHOD(Watched, "what was wrong needs no action when an hour has passed without it") {
  lost = 12;
  CHECK(found().size() == 1);
  for (int second = 0; second < 61 * 60; ++second) monitor.end_second();
  CHECK(found().empty());
  lost = 13;
  CHECK(found() == std::vector<std::string>{"the log has lost 1 line in the last hour"});
}

}  // namespace
}  // namespace bloomgate::test
