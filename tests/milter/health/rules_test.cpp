// The table of what needs action: each rule by what makes it true. That the five places show it: tests/e2e/
// test_needs_action.py.
#include "milter/health/rules.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

using Options = DaemonOptions;

// Of a daemon that is well.
HealthFacts good_facts() {
  HealthFacts facts = {.config_path = "/etc/b.conf", .options = read_daemon_command({"--config", "/dev/null"}).options};
  facts.whitelists = {{.name = "w", .path = "/w.bloom", .entries = 1000, .entries_before = 1001, .written = facts.now}};
  facts.exact_lists = {{.name = "revoked", .path = "/revoked"}};
  RunningFacts& running = facts.running.emplace();
  running.is_learning = true;
  running.learned_in_week = 1;
  running.session_limit = 100;
  running.false_positive_rate = 0.04;
  running.hour.messages = running.day.messages = 1000;
  running.hour.delivered = running.day.delivered = 500;
  running.hour.listed = running.day.listed = 600;
  running.hour.deep_checks = 500;
  running.day.samples_ham = 100;
  return facts;
}

std::vector<HealthFinding> findings_with(const std::function<void(HealthFacts&)>& change) {
  HealthFacts facts = good_facts();
  change(facts);
  return findings_of(facts);
}

std::uint64_t& count(HealthCounts& counts, SignatureOutcome outcome) {
  return counts.signatures[static_cast<std::size_t>(outcome)];
}

struct Case {
  std::string rule;
  std::function<void(HealthFacts&)> change;
  std::string words;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"exempt-delivers-strangers",
       [](HealthFacts& f) {
         f.options.exempt_networks = {parse_ip_network("0.0.0.0/0").value(), parse_ip_network("10.0.0.0/8").value()};
         f.options.exempt_action = ExemptAction::deliver;
       },
       "exempt-networks has 0.0.0.0/0, and exempt-action = deliver"},
      {"exempt-strangers", [](HealthFacts& f) { f.options.exempt_networks = {parse_ip_network("2000::/3").value()}; },
       "exempt-networks has 2000::/3: "},
      {"exempt-strangers", [](HealthFacts& f) { f.options.exempt_networks = {parse_ip_network("::/64").value()}; },
       "exempt-networks has ::/64: "},
      {"addresses-open", [](HealthFacts& f) { f.options.metrics = parse_http_address("*:9812"); }, "metrics = "},
      {"authentication-off", [](HealthFacts& f) { f.options.authentication = AuthenticationRule::off; },
       "anyone can forge"},
      {"authentication-preferred", [](HealthFacts& f) { f.options.authentication = AuthenticationRule::preferred; },
       "without a proof"},
      {"addresses-open", [](HealthFacts& f) { f.options.lookup_socket = parse_http_address("0.0.0.0:9813"); },
       "lookup-socket = inet:9813@0.0.0.0 can be reached from other machines"},
      {"addresses-open", [](HealthFacts& f) { f.options.metrics = parse_http_address("[::]:9812"); }, "metrics = "},
      {"addresses-open", [](HealthFacts& f) { f.options.metrics = parse_http_address("mx.example.net:9812"); },
       "metrics = inet:9812@mx.example.net can be reached"},
      {"addresses-open", [](HealthFacts& f) { f.options.socket = parse_socket_address("inet:1@198.51.100.1").value(); },
       "socket = "},
      {"proof-opened", [](HealthFacts& f) { f.options.alignment = Alignment::relaxed; }, "alignment = relaxed"},
      {"proof-opened", [](HealthFacts& f) { f.options.spf_proves = SpfProves::address; }, "each user of a"},
      {"proof-opened", [](HealthFacts& f) { f.options.dmarc_fail_veto = false; }, "whose DMARC failed"},
      {"proof-opened", [](HealthFacts& f) { f.options.trust_arc = true; }, "each forwarder"},
      {"defaults-not-chosen", [](HealthFacts& f) { f.options.identity = IdentityRule::envelope; },
       "spf-proves is not set, so an envelope sender"},
      {"mode-observe", [](HealthFacts& f) { f.options.mode = Mode::observe; }, "no message is marked"},
      {"learn-from-exempt",
       [](HealthFacts& f) {
         f.options.learn = Options::Learn::outbound;
         f.options.learn_from_exempt = true;
         f.options.learn_exempt_rate = 7;
       },
       "can list anybody for any user, at most 7 new"},
      {"shrunken-lists-allowed", [](HealthFacts& f) { f.options.allow_shrunken_whitelist = true; }, "by mistake"},
      {"whitelist-unusable", [](HealthFacts& f) { f.whitelists[0].faults = {"it is not there"}; },
       "whitelist w: it is not there"},
      {"exact-list-lost", [](HealthFacts& f) { f.exact_lists[0].fault = "no such file"; },
       "the list revoked cannot be read, so the daemon delivers no message: no such file"},
      {"too-many-hits", [](HealthFacts& f) { f.whitelists[0].probed = {{"w/1", 1000, 71, 0.02}}; },
       "the bits of whitelist w/1 have 71 of 1000 random keys that no list can hold, instead of 2 %"},
      {"too-many-hits", [](HealthFacts& f) { f.whitelists[0].probed = {{"w", 31, 31, 0.001}}; },
       "have 31 of 31 random"},
      {"too-many-hits", [](HealthFacts& f) { f.whitelists[0].probed = {{"w", 10'000, 431, 0.02}}; },
       "have 431 of 10000"},
      {"exact-list-lines-left-out",
       [](HealthFacts& f) {
         f.exact_lists[0].left_out = 2;
         f.exact_lists[0].first_left_out = "line 3";
       },
       "the list revoked has invalid lines (2), so it does not revoke their senders; the first is line 3"},
      {"store-faulty", [](HealthFacts& f) { f.whitelists[0].store_faults = {"slow: /w.store"}; }, "slow: /w.store"},
      {"whitelist-empty", [](HealthFacts& f) { f.whitelists[0].entries_before.reset(), f.whitelists[0].entries = 0; },
       "whitelist w has no entries"},
      {"whitelist-shrunk", [](HealthFacts& f) { f.whitelists[0].entries = 499; },
       "whitelist w has 499 entries, and the file before it (/w.bloom.1) had 1,001"},
      {"whitelist-old", [](HealthFacts& f) { f.now += std::chrono::days(9); }, "whitelist w is 9 days old"},
      {"whitelist-overdue",
       [](HealthFacts& f) {
         f.whitelists[0].published = std::chrono::sys_days(std::chrono::year(2026) / 11 / 1);
         f.whitelists[0].holds_until = std::chrono::sys_days(std::chrono::year(2026) / 11 / 15);
         f.whitelists[0].used_until = std::chrono::sys_days(std::chrono::year(2027) / 1 / 14);
         f.now = *f.whitelists[0].holds_until + std::chrono::seconds(1);
         f.whitelists[0].written = f.now;
       },
       "is of 2026-11-01: it expired on 2026-11-15, and the daemon uses the whitelist until 2027-01-14"},
      {"manifests-not-kept", [](HealthFacts& f) { f.whitelists[0].not_remembered = "no such folder"; },
       "the manifest of whitelist w cannot be kept, so after a restart the daemon may take an older state of it: no "
       "such "
       "folder"},
      {"whitelist-lacks-domains", [](HealthFacts& f) { f.whitelists[0].lack_of_domains = {"tells all"}; },
       "whitelist w: it tells all"},
      {"update-fails", [](HealthFacts& f) { f.whitelists[0].update_faults = {"harvest has failed"}; },
       "whitelist w: harvest has failed"},
      {"false-positives-high", [](HealthFacts& f) { f.running->false_positive_rate = 0.11; }, "11 % of the messages"},
      {"checkers-fail", [](HealthFacts& f) { f.running->hour.failed_deep_checks = 26; },
       "of 500 messages that were to be checked in the last hour, 26 got no answer"},
      {"results-missing", [](HealthFacts& f) { f.running->results_are_missing = true; }, "trusted results"},
      {"keys-missing",
       [](HealthFacts& f) {
         count(f.running->hour, SignatureOutcome::pass) = 70;
         count(f.running->hour, SignatureOutcome::name_timeout) = 5;
         count(f.running->hour, SignatureOutcome::name_server_failed) = 4;
       },
       "of 79 signed messages of listed senders in the last hour, 9 were checked"},
      {"keys-missing", [](HealthFacts& f) { f.running->name_servers_fail = true; }, "name servers do not answer"},
      {"whitelist-old", [](HealthFacts& f) { f.whitelists[0].written = f.now + std::chrono::days(400); },
       "whitelist w is from the future, by 400 days"},
      {"whitelist-gone", [](HealthFacts& f) { f.whitelists[0].is_gone = true; },
       "whitelist w is in use, and its file is gone"},
      {"reload-refused", [](HealthFacts& f) { f.running->refused_reload = "bad file"; }, "still is: bad file"},
      {"nothing-delivered", [](HealthFacts& f) { f.running->hour.delivered = 0; }, "none of the 1000 messages"},
      {"spam-delivered",
       [](HealthFacts& f) {
         f.running->day.samples_ham = 99;
         f.running->day.samples_spam = 10;
       },
       "of 109 delivered messages that were sampled in the last day the checker calls 10 spam"},
      {"domains-never-proven",
       [](HealthFacts& f) { f.running->unproven_domains = {{"shop.example", 5, "no-signature"}}; },
       "1 listed domain has sent mail"},
      {"listed-mail-unproven", [](HealthFacts& f) { f.running->day.child_signed = 31; },
       "of 600 messages of listed senders in the last day, 31 were checked since only a name below"},
      {"listed-mail-unproven", [](HealthFacts& f) { count(f.running->day, SignatureOutcome::too_old) = 31; },
       "the signature was too old"},
      {"listed-mail-unproven",
       [](HealthFacts& f) { count(f.running->day, SignatureOutcome::field_added_reply_to) = 31; },
       "the signature leaves the field reply-to open"},
      {"internal-errors", [](HealthFacts& f) { f.running->hour.internal_errors = 1; },
       "1 message could not be decided in the last hour"},
      {"decisions-slow", [](HealthFacts& f) { f.running->hour.slow = 11; }, "11 took longer than 0.1 s"},
      {"connections-turned-away", [](HealthFacts& f) { f.running->hour.turned_away = 4; },
       "4 connections of the mail server were turned away in the last hour, since max-connections is 100"},
      {"connections-turned-away", [](HealthFacts& f) { f.running->hour.without_descriptor = 5; },
       "5 connections of the mail server were turned away in the last hour, since the daemon had too few descriptors"},
      {"log-lines-lost", [](HealthFacts& f) { f.running->hour.lost_log_lines = 3; }, "lost 3 lines"},
      {"samples-unanswered",
       [](HealthFacts& f) {
         f.running->day.samples_ham = 49;
         f.running->day.samples_unanswered = 50;
       },
       "of 99 samples of delivered mail in the last day, 50 got no answer"},
      {"learning-stopped", [](HealthFacts& f) { f.running->learning_fault = "/l.db: full"; },
       "nothing is learned: /l.db: full"},
      {"habits-not-kept", [](HealthFacts& f) { f.running->brake_fault = "/h: full"; },
       "the habits of senders are not kept: /h: full"},
      {"suspensions-not-kept", [](HealthFacts& f) { f.running->suspensions_fault = "/s: full"; },
       "suspensions are not kept: /s: full"},
      {"suspending-stopped", [](HealthFacts& f) { f.running->suspensions_are_stopped = true; },
       "for an hour the daemon suspends no sender"},
      {"senders-suspended", [](HealthFacts& f) { f.running->suspended = 3; }, "3 senders are suspended"},
      {"nothing-learned", [](HealthFacts& f) { f.running->learned_in_week = 0; }, "nothing was learned for a week"},
      {"learned-elsewhere", [](HealthFacts& f) { f.running->heard = {{"/s1", "", false}, {"/s2", "older", false}}; },
       "not taken from /s2: older"},
      {"learned-elsewhere", [](HealthFacts& f) { f.running->heard = {{"/s1", "", true}}; }, "/s1 has no news"},
      {"learn-rate-met", [](HealthFacts& f) { f.running->hour.over_rate = 1; }, "a login has written"},
      {"learn-exempt-rate-met", [](HealthFacts& f) { f.running->hour.over_exempt_rate = 1; }, "a client of exempt-"},
      {"waits-for-restart", [](HealthFacts& f) { f.running->waits_for_restart = "socket"; }, "take in: socket"},
  };
  return kCases;
}

TEST_CASE("a healthy daemon needs no action") {
  CHECK(findings_of(good_facts()).empty());
}

TEST_CASE("each rule is found by what makes it true, alone, with a remedy and the words that an operator needs") {
  for (const Case& c : cases()) {
    INFO(c.rule << ": " << c.words);
    const auto findings = findings_with(c.change);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rule == c.rule);
    CHECK_THAT(findings[0].what, Contains(c.words));
    CHECK(findings[0].how.size() > 10);
    CHECK((!findings[0].how.ends_with('.') || findings[0].how.ends_with("LIST...")));
  }
}

TEST_CASE("the remedy for a whitelist that is published elsewhere is at its publisher, and at pulling it") {
  const auto findings = findings_with([](HealthFacts& f) {
    f.whitelists[0].faults = {"it is not there"};
    f.whitelists[0].needs_manifest = true;
  });
  REQUIRE(findings.size() == 1);
  CHECK_THAT(findings[0].how, Contains("bloomgate pull") && Contains("publisher") && !Contains("bloomgate build"));
}

TEST_CASE("each rule of the table is in the cases above, and has a name of its own") {
  std::set<std::string> tried, names;
  for (const Case& c : cases()) tried.insert(c.rule);
  for (const Rule& rule : health_rules()) {
    CHECK(names.insert(std::string(rule.name)).second);
    CHECK(!rule.summary.empty());
  }
  CHECK(tried == names);
}

TEST_CASE("facts that only a daemon knows give no finding without a daemon") {
  for (const Case& c : cases()) {
    INFO(c.rule << ": " << c.words);
    HealthFacts facts = good_facts();
    c.change(facts);
    const auto rules = health_rules();
    const auto rule = std::ranges::find(rules, c.rule, &Rule::name);
    facts.running.reset();
    CHECK(findings_of(facts).empty() == rule->is_of_daemon);
  }
}

TEST_CASE("values within all limits give no finding") {
  const std::function<void(HealthFacts&)> changes[] = {
      [](HealthFacts& f) {
        for (const char* const own :
             {"10.0.0.0/8", "172.16.0.0/12", "fc00::/7", "8.0.0.0/8", "2a00::/20", "::1/128", "fec0::/10"}) {
          f.options.exempt_networks.push_back(parse_ip_network(own).value());
        }
      },
      [](HealthFacts& f) { f.options.lookup_socket = parse_http_address("127.0.0.1:9813"); },
      [](HealthFacts& f) { f.options.metrics = parse_http_address("10.1.2.3:9812"); },
      [](HealthFacts& f) { f.options.metrics = parse_http_address("/run/bloomgate/metrics.sock"); },
      [](HealthFacts& f) { f.options.socket = parse_socket_address("inet:8891@localhost").value(); },
      [](HealthFacts& f) { f.whitelists[0].probed = {{"w", 1000, 70, 0.02}, {"v", 0, 0, 0.02}, {"u", 30, 30, 0.001}}; },
      [](HealthFacts& f) { f.whitelists[0].probed = {{"w", 10'000, 430, 0.02}}; },
      [](HealthFacts& f) { f.whitelists[0].entries = 501; },
      [](HealthFacts& f) {
        f.whitelists[0].published = std::chrono::sys_days(std::chrono::year(2026) / 11 / 1);
        f.whitelists[0].holds_until = std::chrono::sys_days(std::chrono::year(2300) / 1 / 1);
        f.whitelists[0].used_until = f.whitelists[0].holds_until;
      },
      [](HealthFacts& f) { f.now += std::chrono::days(8); },
      [](HealthFacts& f) { f.running->false_positive_rate = 0.1; },
      [](HealthFacts& f) { f.running->hour.failed_deep_checks = 25; },
      [](HealthFacts& f) { f.running->hour.deep_checks = 19, f.running->hour.failed_deep_checks = 19; },
      [](HealthFacts& f) {
        count(f.running->hour, SignatureOutcome::pass) = 90;
        count(f.running->hour, SignatureOutcome::name_timeout) = 10;
        count(f.running->hour, SignatureOutcome::no_signature) = 1000;
      },
      [](HealthFacts& f) { f.running->hour.messages = 99, f.running->hour.delivered = 0; },
      [](HealthFacts& f) { f.running->day.samples_spam = 1; },
      [](HealthFacts& f) { f.running->day.child_signed = 30; },
      [](HealthFacts& f) { f.running->hour.slow = 10; },
      [](HealthFacts& f) { f.running->day.samples_unanswered = 100; },
      [](HealthFacts& f) { f.running->learned_in_week.reset(); },
      [](HealthFacts& f) { f.running->is_learning = false, f.running->learned_in_week = 0; },
      // A site that learns begins with an empty list, and delivers no message.
      [](HealthFacts& f) {
        f.options.learn = Options::Learn::outbound;
        f.whitelists[0].entries_before.reset();
        f.whitelists[0].entries = 0;
        f.running->hour.delivered = 0;
      },
      // The first list of a site that learns may be empty.
      [](HealthFacts& f) {
        f.options.learn = Options::Learn::outbound;
        f.whitelists[0].entries_before.reset();
        f.whitelists[0].entries = 0;
      },
  };
  for (const auto& change : changes) CHECK(findings_with(change).empty());
}

TEST_CASE("a file for older defaults gets a finding for each default that has become stricter") {
  struct Row {
    std::string_view name;
    std::vector<std::string> words;
    std::vector<std::string_view> want;  // what each finding starts with
  };
  const Row rows[] = {
      {"a new installation", {}, {}},
      {"an envelope sender that must be listed", {"--identity", "envelope"}, {"spf-proves is not set"}},
      {"both senders", {"--identity", "both"}, {"spf-proves is not set"}},
      {"a default that was written down", {"--identity", "both", "--spf-proves", "domain"}, {}},
      {"results of other milters",
       {"--trusted-authserv-id", "mx.example.net"},
       {"alignment is not set", "spf-proves is not set"}},
      {"those of the mail server's name", {"--verify-dkim", "no"}, {"alignment is not set", "spf-proves is not set"}},
      {"defaults for them that were written down",
       {"--verify-dkim", "no", "--alignment", "parent", "--spf-proves", "domain"},
       {}},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    std::vector<std::string> words = {"--config", "/dev/null"};
    words.insert(words.end(), row.words.begin(), row.words.end());
    const DaemonCommand command = read_daemon_command(words);
    const auto findings =
        findings_of({.config_path = "/etc/b.conf", .options = command.options, .given = command.given});
    REQUIRE(findings.size() == row.want.size());
    for (std::size_t i = 0; i < findings.size(); ++i) {
      CHECK(findings[i].rule == "defaults-not-chosen");
      CHECK_THAT(findings[i].what, StartsWith(std::string(row.want[i])));
      CHECK_THAT(findings[i].how, Contains("into /etc/b.conf to keep that"));
    }
  }
}

TEST_CASE("the most severe finding comes first, as a line with its remedy below") {
  const auto findings = findings_with([](HealthFacts& f) {
    f.options.mode = Mode::observe;
    f.running->hour.turned_away = 1;
    f.whitelists[0].faults = {"it is not there\x1b"};
  });
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].severity == Severity::page);
  CHECK(findings[1].severity == Severity::ticket);
  CHECK(findings[2].severity == Severity::notice);
  CHECK_THAT(text_of(findings[0]), StartsWith("urgent: whitelist w: it is not there\\x1b\n  -> build it"));
}

}  // namespace
}  // namespace bloomgate::test
