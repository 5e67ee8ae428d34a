// What --doctor finds in a sendmail.cf. With a real Sendmail: tests/e2e/test_doctor.py.
#include "milter/doctor/doctor.hpp"
#include "tests/milter/deep_check/loopback_server.hpp"
#include "tests/milter/doctor/shown_findings.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

struct SendmailFolder : InFolder {
  std::vector<DoctorFinding> found(const std::string& configuration, std::vector<std::string> words) const {
    words.insert(words.end(), {"--config", "/dev/null"});
    std::vector<DoctorFinding> findings;
    write_file(folder.file("sendmail.cf"), configuration);
    CHECK(examine_sendmail(read_daemon_command(words).options, folder.path(), findings));
    return findings;
  }

  LoopbackServer before{plays_milter()};
  const std::string port = before.address().port;
  const std::string asks = "ok sendmail: Sendmail (" + folder.path().string() + ") asks the daemon";
  const std::string opendkim = "Xopendkim, S=inet:" + port + "@127.0.0.1, F=T\n";
  const std::string ours = "Xbloomgate, S=local:/b.sock, T=S:5s\n";
  const std::string scan = "Xscan, T=S:5s,\tS=unix:/nonexistent/s\r\n";
  const std::string marks = "HX-Bloomgate: $>marks\n";
  const std::string results = "HAuthentication-Results: $>results\n";
};

const std::string kNothingChecks =
    "problem sendmail: nothing checks mail that is not listed: no milter comes after Bloomgate";
const std::string kForgedMark =
    "problem sendmail: while Bloomgate is down a forged mark would count: nothing refuses it";
const std::string kWaits = "warning sendmail: while Bloomgate is down mail is refused or waits (F=)";
const std::string kNoneBefore =
    "problem authentication: no milter before Bloomgate authenticates senders, so no sender counts as listed";
const std::string kForgedStay =
    "problem authentication: results that a sender has forged stay if OpenDKIM is down or cannot read them";
const std::string kLongStay =
    "problem authentication: long results that a sender has forged are neither removed by OpenDKIM nor seen by "
    "Sendmail";
const std::string kRefused = "ok authentication: forged results are removed or refused";

TEST_CASE_METHOD(SendmailFolder, "without a sendmail.cf the doctor says nothing of Sendmail") {
  std::vector<DoctorFinding> findings;
  CHECK_FALSE(examine_sendmail({}, folder.file("none"), findings));
  CHECK(findings.empty());
}

TEST_CASE_METHOD(SendmailFolder, "the milters of a sendmail.cf are asked, and each fault of it is found") {
  const std::string order = "O InputMailFilters=opendkim, bloomgate,\tscan\r\n";
  const std::string answers = "ok milter: opendkim (inet:" + port + "@127.0.0.1) answers";
  const std::string silent = "problem milter: the milter scan (unix:/nonexistent/s) does not answer";
  const std::string silent_before =
      "problem milter: the milter opendkim (inet:1@127.0.0.1) does not answer: no results of it reach Bloomgate";
  const std::string not_asked = "problem sendmail: Sendmail (" + folder.path().string() +
                                ") does not ask unix:/b.sock: no milter of sendmail.cf has that address";
  struct Case {
    std::string_view name;
    std::string configuration;
    std::vector<std::string> wanted;
    std::vector<std::string> more = {};
  };
  const std::string rules = marks + results;
  for (const Case& c : {
           Case{"good", opendkim + ours + scan + order + rules, {asks, answers, silent, kRefused}},
           {"unix:",
            opendkim + "Xbloomgate, S=unix:/b.sock\n" + scan + order + rules,
            {asks, answers, silent, kRefused}},
           {"a port",
            "Xb, S=inet:99@localhost\nXc, S=inet:1@[192.0.2.1]\nO InputMailFilters=b\n" + marks,
            {asks, kNothingChecks},
            {"--socket", "inet:99@127.0.0.1", "--authentication", "off"}},
           {"another port",
            "Xb, S=inet:99@localhost\nXc, S=local:/b:9@x\nO InputMailFilters=b,c\n" + marks,
            {"problem sendmail: Sendmail (" + folder.path().string() + ") does not ask inet:9@127.0.0.1*"},
            {"--socket", "inet:9@127.0.0.1"}},
           {"another path", opendkim + "Xbloomgate, S=local:/b.sock2\n" + order + rules, {not_asked}},
           {"not in the order", opendkim + ours + "O InputMailFilters=opendkim\n" + rules, {not_asked}},
           {"no order", opendkim + ours + rules, {not_asked}},
           {"F= of ours",
            opendkim + "Xbloomgate, F=T, S=local:/b.sock\n" + scan + order + rules,
            {asks, answers, silent, kWaits, kRefused}},
           {"none after it",
            opendkim + ours + "O InputMailFilters=opendkim, bloomgate\n" + rules,
            {asks, answers, kNothingChecks, kRefused}},
           {"forged marks", opendkim + ours + scan + order + results, {asks, answers, silent, kForgedMark, kRefused}},
           {"forged results", opendkim + ours + scan + order + marks, {asks, answers, silent, kForgedStay}},
           {"one before it lets mail pass",
            "Xopendkim, S=inet:1@127.0.0.1\n" + ours + scan + order + rules,
            {asks, silent_before, silent, kForgedStay}},
           {"two before it, of which one makes mail wait",
            opendkim + "Xodd, S=odd\n" + ours + scan + "O InputMailFilters=opendkim,odd,unknown,bloomgate,scan\n" +
                rules,
            {asks, answers, silent, kRefused}},
           {"none before it",
            ours + scan + "O InputMailFilters=bloomgate, scan\n" + rules,
            {asks, silent, kNoneBefore}},
           {"no authentication",
            ours + scan + "O InputMailFilters=bloomgate, scan\n" + rules,
            {asks, silent},
            {"--authentication", "off"}},
           {"the daemon verifies",
            ours + scan + "O InputMailFilters=bloomgate, scan\n" + rules,
            {asks, silent, "ok authentication: the daemon verifies signatures itself, and trusts no results"},
            {"--verify-dkim", "yes"}},
           {"the daemon verifies, and trusts",
            ours + scan + "O InputMailFilters=bloomgate, scan\n" + rules,
            {asks, silent, kNoneBefore},
            {"--verify-dkim", "yes", "--trusted-authserv-id", "mx.test"}},
           {"any number of results",
            opendkim + ours + scan + order + rules,
            {asks, answers, silent, kRefused, kLongStay},
            {"--trusted-fields", "0"}},
       }) {
    INFO(c.name);
    std::vector<std::string> words = c.more;
    const auto add = [&](const std::string& option, const std::string& value) {
      if (std::ranges::count(c.more, option) == 0) words.insert(words.end(), {option, value});
    };
    add("--socket", "unix:/b.sock");
    add("--authentication", "required");
    add("--verify-dkim", "no");
    add("--trusted-fields", "1");
    check_found(found(c.configuration, words), c.wanted);
  }
}

TEST_CASE_METHOD(SendmailFolder,
                 "where the daemon is the whole check, the doctor says what happens to mail without it") {
  const std::string last = "O InputMailFilters=opendkim, bloomgate\n";
  const std::string answers = "ok milter: opendkim*";
  const auto with_check = [&](const std::string& configuration) {
    return found(configuration,
                 {"--socket", "unix:/b.sock", "--authentication", "off", "--deep-check", "spamd:unix:/s"});
  };
  check_found(with_check(opendkim + ours + last),
              {asks, answers, "ok sendmail: while Bloomgate is down mail is delivered unchecked*", kForgedMark});
  check_found(with_check(opendkim + "Xbloomgate, F=T, S=local:/b.sock\n" + last),
              {asks, answers, "ok sendmail: while Bloomgate is down all mail waits at its sender (F=)"});
  check_found(
      with_check(opendkim + "Xbloomgate, F=T, S=local:/b.sock\n" + scan + "O InputMailFilters=bloomgate,scan\n"),
      {asks, "problem milter: the milter scan*", kWaits, kForgedMark});
}

}  // namespace
}  // namespace bloomgate::test
