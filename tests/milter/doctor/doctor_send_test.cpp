// What --doctor --send makes of what a mail server and its logs say. With a real Postfix:
// tests/e2e/test_doctor_send.py.
#include <mutex>

#include "milter/doctor/doctor.hpp"
#include "tests/milter/deep_check/loopback_server.hpp"
#include "tests/milter/doctor/shown_findings.hpp"
#include "tests/support/stand_in_programs.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

// A mail server that has a queue ID for each message, and logs what became of it.
struct MailServer : InFolder {
  MailServer() {
    programs.put_noting_words("journalctl", "exit 0");
    write_file(
        log,
        "bloomgate-milter: queue_id=Q1 sender=<> decision=deliver reason=old \nQ1: to=<x>, relay=old, status=old\n");
    write_file(folder.file("message"), "From: joe@example.org\nSubject: hello\n\n.dot\n");
  }

  void serve(LoopbackServer::Client& client) {
    client.send(greeting);
    std::string sender;
    for (std::string line = client.line(); !line.empty(); line = client.line()) {
      if (line.starts_with("EHLO") || line.starts_with("QUIT") || line.starts_with("RCPT")) {
        if (line.starts_with("RCPT")) CHECK_THAT(line, StartsWith("RCPT TO:<ann@ours.example>"));
        client.send("250 mx.test\r\n");
      } else if (line.starts_with("MAIL")) {
        sender = line;
        client.send("250 ok\r\n");
      } else if (line.starts_with("DATA")) {
        client.send("354 go on\r\n");
        std::string text;
        for (line = client.line(); line != ".\r\n" && !line.empty(); line = client.line()) text += line;
        client.send(take(sender, text));
      }
    }
  }

  std::string take(const std::string& sender, const std::string& text) {
    const std::lock_guard lock(mutex);
    messages.push_back(sender + text);
    const std::string& fate = fates.at(messages.size() - 1);
    if (fate.starts_with("5") || fate.starts_with("250")) return fate + "\r\n";
    const std::string id = "Q" + std::to_string(messages.size());
    write_file(log, read_file(log) + (fate.starts_with("warning") ? "" : "queue_id=" + id + " ") + fate + "\n" + id +
                        ": to=<ann@ours.example>, relay=local, delay=1, status=sent (done)\n");
    return "250 2.0.0 Ok: queued as " + id + "\r\n";
  }

  std::vector<DoctorFinding> found(std::vector<std::string> words = {}) {
    words.insert(words.end(), {"--config", "/dev/null", "--doctor", "--send", "ann@ours.example", "--smtp",
                               "127.0.0.1:" + server.address().port, "--log", log});
    std::vector<DoctorFinding> findings;
    examine_by_mail(read_daemon_command(words), findings);
    return findings;
  }
  std::vector<DoctorFinding> found_with_message() { return found({"--signed-message", folder.file("message")}); }

  const std::string log = folder.file("log");
  const StandInPrograms programs;
  std::string greeting = "220 mx.test ESMTP\r\n";
  std::vector<std::string> fates = {"decision=check reason=not-listed x", "decision=deliver reason=listed x",
                                    "decision=check reason=not-authenticated x"};
  std::mutex mutex;
  std::vector<std::string> messages;
  LoopbackServer server{[this](LoopbackServer::Client& client) { serve(client); }};
};

const std::string kFirst = "send: an unlisted sender (Q1): ";
const std::string kSent = ", relay=local status=sent";

TEST_CASE_METHOD(MailServer, "without a recipient no message is sent") {
  std::vector<DoctorFinding> findings;
  examine_by_mail(read_daemon_command({"--config", "/dev/null", "--doctor"}), findings);
  CHECK(findings.empty());
  CHECK(server.connections() == 0);
}

TEST_CASE_METHOD(MailServer,
                 "a message of an unlisted sender, a genuine one and a forged one are sent, and their fates are told") {
  check_found(found_with_message(),
              {"ok " + kFirst + "decision=check reason=not-listed" + kSent,
               "ok send: a listed sender, signed (Q2): decision=deliver reason=listed" + kSent,
               "ok send: the same message, forged (Q3): decision=check reason=not-authenticated" + kSent});
  REQUIRE(messages.size() == 3);
  CHECK_THAT(messages[0], StartsWith("MAIL FROM:<bloomgate-doctor-") && Contains("To: <ann@ours.example>\r\n"));
  CHECK_THAT(messages[1], StartsWith("MAIL FROM:<joe@example.org>") && EndsWith("\r\n\r\n..dot\r\n"));
  CHECK_THAT(messages[2], Contains("Authentication-Results: mx.test; dkim=pass") && EndsWith("..dot\r\n"));
  CHECK_THAT(programs.words(), Contains("--since=@") && Contains("--grep=Q3\n"));
}

TEST_CASE_METHOD(MailServer,
                 "a decision that is not the one that is wanted is a problem, with a remedy for its reason") {
  fates = {"decision=deliver reason=listed x", "decision=check reason=revoked x", "decision=deliver reason=listed x"};
  auto all = found_with_message();
  const std::string as_if_listed = ": this message is delivered as if its sender were listed";
  check_found(all,
              {"problem " + kFirst + "decision=deliver reason=listed" + kSent + as_if_listed,
               "problem send: a listed sender, signed (Q2): decision=check reason=revoked" + kSent,
               "problem send: the same message, forged (Q3): decision=deliver reason=listed" + kSent + as_if_listed});
  CHECK_THAT(all[1].remedy, StartsWith("the sender is revoked"));
  const auto remedy = [&](const std::string& reason, const std::string& verifies) {
    fates = {fates[0], "decision=check reason=" + reason + " x", fates[2]};
    messages.clear();
    return found({"--signed-message", folder.file("message"), "--verify-dkim", verifies}).at(1).remedy;
  };
  CHECK_THAT(remedy("not-listed", "no"), Contains("is on no whitelist"));
  CHECK_THAT(remedy("opted-out", "no"), Contains("has opted out"));
  CHECK_THAT(remedy("burst", "no"), Contains("shows each step"));
  for (const char* const reason : {"not-authenticated", "authentication-failed", "dmarc-fail", "distrusted-results"}) {
    CHECK_THAT(remedy(reason, "yes"), Contains("shows what is wrong with its signature"));
    CHECK_THAT(remedy(reason, "no"), Contains("see in the log what OpenDKIM"));
  }
}

TEST_CASE_METHOD(MailServer,
                 "a message that the daemon does not decide shows nothing, or that the milter was not reached") {
  fates = {"decision=check reason=exempt-network x"};
  check_found(found(), {"warning " + kFirst + "decision=check reason=exempt-network" + kSent +
                            ": mail from this machine is exempt, so it shows nothing",
                        "warning send: no listed sender was tried, since only its owner can sign for it"});
}

TEST_CASE_METHOD(MailServer,
                 "a refusal is right for a message that is not genuine, and no other end of a dialogue is") {
  fates = {"550 5.7.1 no", "550 5.7.1 no", "250 fine"};
  auto all = found_with_message();
  check_found(all, {"ok send: an unlisted sender: the mail server refused it: 550 5.7.1 no*",
                    "problem send: a listed sender, signed: the mail server refused it: 550 5.7.1 no*",
                    "warning send: the same message, forged: the mail server took it and gave no queue ID: 250 fine*"});
  CHECK(all[0].remedy.empty());
  CHECK(all[1].remedy == "see the mail server's log for the reason");
}

TEST_CASE_METHOD(MailServer, "a message without a sender, and none at all, are said to be of no use") {
  fates.assign(3, "550 no");
  for (const char* const text : {"Subject: no sender\n\n", ""}) {
    messages.clear();
    write_file(folder.file("message"), text);
    check_found(found_with_message(),
                {"ok send: *", "problem send: " + folder.file("message") + " is no message with a sender"});
  }
  messages.clear();
  check_found(found({"--signed-message", folder.file("none")}),
              {"ok send: *", "problem send: " + folder.file("none") + " is no message with a sender"});
}

TEST_CASE_METHOD(MailServer, "where no mail server answers, no further message is tried") {
  greeting = "";
  const std::string address = "127.0.0.1:1";
  std::vector<DoctorFinding> findings;
  examine_by_mail(read_daemon_command({"--config", "/dev/null", "--doctor", "--send", "ann@ours.example", "--smtp",
                                       address, "--log", log, "--signed-message", folder.file("message")}),
                  findings);
  check_found(findings, {"problem send: no mail server can be reached at " + address + ": *"});
}

}  // namespace
}  // namespace bloomgate::test
