#include "filter/contacts/open_messages.hpp"

#include <string>

#include "sink.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

struct Log {
  explicit Log(bool without_login = false, std::size_t most_open = 100, const OwnerAddresses* addresses = nullptr)
      : rules{.own_domains = OwnDomains({"ours.example", ".tree.example"}),
              .most_recipients = 3,
              .needs_user = true,
              .without_login = without_login},
        messages(rules, counts, sink, most_open, addresses) {}

  void read(const std::string& line) {
    if (const auto event = read_log_line(line, latest)) messages.use(*event);
  }
  void postfix(const std::string& agent, const std::string& text, const std::string& host = "mx") {
    read("Nov 20 10:00:00 " + host + " postfix/" + agent + "[1]: " + text);
  }
  void sendmail(const std::string& text, const std::string& process = "1") {
    read("Nov 20 10:00:00 mx sm-mta[" + process + "]: " + text);
  }
  void login(const std::string& id) { postfix("smtpd", id + ": client=pc[1.2.3.4], sasl_username=ann"); }
  void from(const std::string& id, const std::string& path = "<ann@ours.example>", int recipients = 1) {
    postfix("qmgr", id + ": from=" + path + ", size=1, nrcpt=" + std::to_string(recipients) + " (queue active)");
  }
  void sent(const std::string& id, const std::string& path = "<joe@example.org>") {
    postfix("smtp", id + ": to=" + path + ", relay=mx[1.2.3.4]:25, status=sent (250 Ok)");
  }
  std::uint64_t left_out(LeftOut kind) const { return counts.left_out[static_cast<std::size_t>(kind)]; }

  HarvestRules rules;
  HarvestCounts counts;
  Sink sink;
  OpenMessages messages;
  std::optional<Day> latest;
};

TEST_CASE_METHOD(Log, "the recipients of a user's message are found by its queue ID, in canonical form") {
  login("AAAAA1");
  from("AAAAA1", "<Ann@OURS.example>", 2);
  postfix("cleanup", "AAAAA1: message-id=<1@ours.example>");
  sent("AAAAA1", "<Joe@Example.ORG>");
  const MessageMark named = mark_of("1@ours.example", "", true);
  CHECK((sink.last.hash == named.hash && sink.last.is_named && sink.last.is_logged));
  sent("AAAAA1", "<bob@example.org>");
  postfix("qmgr", "AAAAA1: removed");
  CHECK(sink.found == Found{"joe@example.org > ann@ours.example", "bob@example.org > ann@ours.example"});
  CHECK(counts.messages == 1);
  CHECK(counts.contacts == 2);
  CHECK(messages.open() == 0);
}

TEST_CASE("a message counts only if one of our users sent it, to few recipients") {
  struct Case {
    std::string_view name;
    bool logs_in;
    std::string path;
    int recipients;
    LeftOut reason;
  };
  const auto test = GENERATE(values<Case>({
      {"no login", false, "<ann@ours.example>", 1, LeftOut::no_login},
      {"a bounce", true, "<>", 1, LeftOut::null_sender},
      {"another's domain", true, "<ann@example.org>", 1, LeftOut::foreign_sender},
      {"no address", true, "<ann>", 1, LeftOut::foreign_sender},
      {"below a domain of ours, which is not ours as a tree", true, "<ann@sub.ours.example>", 1,
       LeftOut::foreign_sender},
      {"too many", true, "<ann@ours.example>", 4, LeftOut::many_recipients},
  }));
  CAPTURE(test.name);
  Log log;
  if (test.logs_in) {
    log.login("AAAAA1");
  } else {
    log.postfix("smtpd", "AAAAA1: client=pc[1.2.3.4]");
  }
  log.from("AAAAA1", test.path, test.recipients);
  log.from("AAAAA1", test.path, test.recipients);  // it was deferred, and comes again
  log.sent("AAAAA1");
  CHECK(log.sink.found.empty());
  CHECK(log.left_out(test.reason) == 1);
}

TEST_CASE_METHOD(Log, "recipients count if they are outside our domains and were reached") {
  login("AAAAA1");
  from("AAAAA1", "<ann@sub.tree.example>", 3);
  sent("AAAAA1", "<bob@ours.example>");
  sent("AAAAA1", "<bob@deep.sub.tree.example>");
  sent("AAAAA1", "<bob>");
  postfix("smtp", "AAAAA1: to=<joe@example.org>, relay=mx[1.2.3.4]:25, status=bounced (no)");
  CHECK(sink.found.empty());
  CHECK(left_out(LeftOut::own_domain) == 2);
  CHECK(left_out(LeftOut::unreadable) == 1);
  CHECK(left_out(LeftOut::not_delivered) == 1);
  CHECK(counts.messages == 0);
  sent("AAAAA1", "<joe@example.org>");
  CHECK(sink.found == Found{"joe@example.org > ann@sub.tree.example"});
}

constexpr Day kDay{std::chrono::days{20'000}};

// What a second run finds that reads on where the first one has ended, so many days later.
struct NextRun : Log {
  explicit NextRun(const Log& first, std::chrono::days later = std::chrono::days(1), bool without_login = false)
      : Log(without_login) {
    messages.resume(first.messages.under_way(kDay), kDay + later);
  }
};

TEST_CASE_METHOD(Log, "a message that is under way where a run ends counts in the next one, and no other does") {
  login("AAAAA1");
  from("AAAAA1", "<ann@ours.example>", 2);
  sent("AAAAA1", "<joe@example.org>");
  login("AAAAA2");
  login("AAAAA3");
  postfix("qmgr", "AAAAA3: removed");
  login("AAAAA4");
  postfix("cleanup", "AAAAA4: info: header Auto-Submitted: auto-replied from local; from=<ann@ours.example>");
  NextRun next(*this);
  CHECK(next.messages.open() == 3);
  next.sent("AAAAA1", "<bob@example.org>");
  next.from("AAAAA2");
  next.sent("AAAAA2", "<zoe@example.org>");
  for (const char* id : {"AAAAA3", "AAAAA4"}) {
    next.from(id);
    next.sent(id, "<eve@example.org>");
  }
  CHECK(next.sink.found == Found{"bob@example.org > ann@ours.example", "zoe@example.org > ann@ours.example"});
  CHECK(counts.messages + next.counts.messages == 2);
}

TEST_CASE_METHOD(Log, "Sendmail's logins and recipients still to come are kept for the next run, logins for one") {
  sendmail("AUTH=server, relay=pc [1.2.3.4], authid=ann, mech=PLAIN", "7");
  sendmail("aaaaaaa1: from=<ann@ours.example>, nrcpts=2, relay=pc [1.2.3.4]", "7");
  sendmail("aaaaaaa1: to=<joe@example.org>, stat=Sent (ok)", "8");
  NextRun next(*this);
  next.sendmail("aaaaaaa1: to=<bob@example.org>, stat=Sent (ok)", "8");
  next.sendmail("aaaaaaa1: to=<eve@example.org>, stat=Sent (ok)", "8");  // it had two
  next.sendmail("aaaaaaa2: from=<ann@ours.example>, nrcpts=1, relay=pc [1.2.3.4]", "7");
  next.sendmail("aaaaaaa2: to=<zoe@example.org>, stat=Sent (ok)", "8");
  CHECK(next.sink.found == Found{"bob@example.org > ann@ours.example", "zoe@example.org > ann@ours.example"});
  CHECK(next.messages.under_way(kDay + std::chrono::days(1)).empty());
}

TEST_CASE_METHOD(Log, "a message is under way for as long as a queue keeps mail, and not for ever") {
  login("AAAAA1");
  const NextRun second(*this, std::chrono::days(6));
  CHECK(second.messages.under_way(kDay + std::chrono::days(6)) == messages.under_way(kDay));
  CHECK(NextRun(second, std::chrono::days(10)).messages.open() == 1);
  CHECK(NextRun(second, std::chrono::days(11)).messages.open() == 0);
}

TEST_CASE_METHOD(Log, "a recipient has the day on which the message was taken, whenever it was delivered") {
  login("AAAAA1");
  from("AAAAA1", "<ann@ours.example>", 3);
  latest = kDay;
  sent("AAAAA1");
  CHECK_FALSE(sink.last.day);  // not known
  latest = *parse_day("2026-11-25");
  login("AAAAA2");
  from("AAAAA2", "<ann@ours.example>", 3);
  latest = *parse_day("2027-11-25");
  postfix("cleanup", "AAAAA2: message-id=<2@ours.example>");
  sent("AAAAA2");
  CHECK(sink.last.day == parse_day("2026-11-20"));
  postfix("smtpd", "AAAAA3: client=localhost[127.0.0.1], orig_queue_id=AAAAA2, orig_client=pc[1.2.3.4]");
  from("AAAAA3");
  NextRun next(*this);
  next.latest = latest;
  next.sent("AAAAA3");
  next.sent("AAAAA2", "<eve@example.org>");  // it was handed on
  CHECK(next.sink.found.size() == 1);
  CHECK(next.sink.last.day == parse_day("2026-11-20"));
  next.sendmail("AUTH=server, relay=pc [1.2.3.4], authid=ann, mech=PLAIN", "7");
  next.sendmail("aaaaaaa1: from=<ann@ours.example>, nrcpts=2, msgid=<3@ours.example>, relay=pc [1.2.3.4]", "7");
  next.sendmail("aaaaaaa1: to=<joe@example.org>, stat=Sent (ok)", "8");
  CHECK(next.sink.last.hash == mark_of("3@ours.example", "", true).hash);
  CHECK(next.sink.last.day == parse_day("2027-11-20"));
}

TEST_CASE_METHOD(Log, "lines that are not of messages under way are passed over") {
  for (const char* const lines :
       {"\n", "x\n", "\t\t\t\t\t\t\n", "2024-10-04\t-\tc\t0\tmx AAAAA1\tann@ours.example\n",
        "2024-10-04\t-\tc\t0\t\tann@ours.example\tann\n", "2024-10-04\t-\tc\t0\tmx AAAAA1\ta\tb\tc\n",
        "2024-10-04\t-\tc\t0\tmx AAAAA1\tann@ours.example\tann"}) {
    CAPTURE(lines);
    messages.resume(lines, kDay);
    CHECK(messages.open() == 0);
  }
  messages.resume("2024-10-04\t-\tc\tx\tmx AAAAA1\tann@ours.example\tann\n", kDay);
  CHECK(messages.open() == 1);
}

TEST_CASE("an automatic message stays one when a content filter hands it back") {
  Log log(true);
  log.login("AAAAA1");
  log.postfix("cleanup", "AAAAA1: info: header X-Autoreply: yes from local; from=<ann@ours.example>");
  log.postfix("smtpd", "AAAAA2: client=localhost[127.0.0.1], orig_queue_id=AAAAA1, orig_client=pc[1.2.3.4]");
  log.from("AAAAA2");
  log.sent("AAAAA2");
  CHECK(log.sink.found.empty());
  CHECK(log.left_out(LeftOut::automatic) == 1);
}

TEST_CASE_METHOD(Log, "a message that a header check has logged as automatic is left out") {
  login("AAAAA1");
  postfix("cleanup", "AAAAA1: info: header Auto-Submitted: auto-replied from local; from=<ann@ours.example>");
  postfix("cleanup", "AAAAA1: info: header Precedence: bulk from local; from=<ann@ours.example>");
  from("AAAAA1");
  sent("AAAAA1");
  CHECK(sink.found.empty());
  CHECK(left_out(LeftOut::automatic) == 1);
}

TEST_CASE_METHOD(Log, "a queue ID that is used again belongs to another message") {
  login("AAAAA1");
  from("AAAAA1");
  // The log of the end is missing; a stranger gets the same queue ID.
  postfix("smtpd", "AAAAA1: client=pc[1.2.3.4]");
  from("AAAAA1");
  sent("AAAAA1");
  CHECK(sink.found.empty());
}

TEST_CASE_METHOD(Log, "queue IDs of several hosts are several messages") {
  login("AAAAA1");
  postfix("qmgr", "AAAAA1: from=<ann@ours.example>, size=1, nrcpt=1 (queue active)", "mx2");
  sent("AAAAA1");
  CHECK(sink.found.empty());
}

TEST_CASE_METHOD(Log, "behind a content filter the message counts by its first login") {
  login("AAAAA1");
  from("AAAAA1");
  postfix("smtpd", "BBBBB1: client=localhost[127.0.0.1], orig_queue_id=AAAAA1, orig_client=pc[1.2.3.4]");
  from("BBBBB1");
  sent("BBBBB1");
  CHECK(sink.found == Found{"joe@example.org > ann@ours.example"});
  postfix("smtpd", "CCCCC1: client=localhost[127.0.0.1], orig_queue_id=ZZZZZ1, orig_client=pc[1.2.3.4]");
  from("CCCCC1");
  sent("CCCCC1", "<bob@example.org>");
  CHECK(sink.found.size() == 1);
}

TEST_CASE_METHOD(Log, "a message that a content filter hands back counts once, for whom it reaches then") {
  login("AAAAA1");
  from("AAAAA1", "<ann@ours.example>", 2);
  postfix("smtpd", "BBBBB1: client=localhost[127.0.0.1], orig_queue_id=AAAAA1, orig_client=pc[1.2.3.4]");
  from("BBBBB1", "<ann@ours.example>", 2);
  sent("AAAAA1");
  sent("AAAAA1", "<bob@example.org>");
  sent("BBBBB1");
  postfix("smtp", "BBBBB1: to=<bob@example.org>, relay=mx[1.2.3.4]:25, status=bounced (550 no)");
  CHECK(sink.found == Found{"joe@example.org > ann@ours.example"});
  CHECK(counts.messages == 1);
  CHECK(left_out(LeftOut::not_delivered) == 1);
}

TEST_CASE_METHOD(Log, "a message that a content filter has thrown away is not delivered") {
  login("AAAAA1");
  from("AAAAA1");
  postfix(
      "smtp",
      "AAAAA1: to=<joe@example.org>, relay=127.0.0.1[127.0.0.1]:10024, status=sent (250 2.7.0 Ok, Discarded, id=1)");
  CHECK(sink.found.empty());
  CHECK(left_out(LeftOut::not_delivered) == 1);
}

TEST_CASE_METHOD(Log, "the contact is the address that the user wrote to, and not the one behind an alias") {
  login("AAAAA1");
  from("AAAAA1", "<ann@ours.example>", 2);
  postfix(
      "smtp",
      "AAAAA1: to=<private@elsewhere.example>, orig_to=<zoe@ours.example>, relay=mx[1.2.3.4]:25, status=sent (250 Ok)");
  postfix(
      "smtp",
      "AAAAA1: to=<x@elsewhere.example>, orig_to=<\"a, b\"@example.org>, relay=mx[1.2.3.4]:25, status=sent (250 Ok)");
  CHECK(sink.found == Found{"\"a, b\"@example.org > ann@ours.example"});
  CHECK(left_out(LeftOut::own_domain) == 1);
}

TEST_CASE("if only the number of users matters, a login is one user, whichever of its addresses it has used") {
  const OwnDomains domains({"ours.example"});
  const test::TemporaryFolder folder;
  test::write_file(folder.file("logins"), "boss@ours.example ann\ninfo@ours.example ann,bob\n");
  OwnerAddresses addresses(domains);
  addresses.read(folder.file("logins"));
  for (const bool is_known : {true, false}) {
    Log log(false, 100, is_known ? &addresses : nullptr);
    log.rules.needs_user = false;
    for (const std::string sender : {"boss", "info"}) {
      log.login("AAAAA1");
      log.from("AAAAA1", "<" + sender + "@ours.example>");
      log.sent("AAAAA1");
    }
    const std::string user = is_known ? "boss@ours.example" : "ann";  // of which domain is not known
    CHECK(log.sink.found == Found{"joe@example.org > " + user, "joe@example.org > " + user});
  }
}

TEST_CASE("if the addresses of logins are known, no login can write as another user") {
  const OwnDomains domains({"ours.example"});
  const test::TemporaryFolder folder;
  test::write_file(folder.file("logins"), "ceo@ours.example boss\nann@ours.example ann\ninfo@ours.example ann,boss\n");
  OwnerAddresses addresses(domains);
  addresses.read(folder.file("logins"));
  Log log(false, 100, &addresses);
  for (const std::string sender : {"ceo", "ann", "info"}) {
    log.login("AAAAA1");
    log.from("AAAAA1", "<" + sender + "@ours.example>");
    log.sent("AAAAA1");
  }
  log.login("BBBBB1");
  log.postfix("smtpd", "BBBBB2: client=localhost[127.0.0.1], orig_queue_id=BBBBB1, orig_client=pc[1.2.3.4]");
  log.from("BBBBB2", "<ceo@ours.example>");
  log.sent("BBBBB2");
  log.sendmail("AUTH=server, relay=pc [1.2.3.4], authid=ann, mech=PLAIN, bits=0");
  log.sendmail("CCCCC1: from=<ceo@ours.example>, size=1, nrcpts=1, relay=pc [1.2.3.4]");
  log.sendmail("CCCCC1: to=<joe@example.org>, mailer=esmtp, stat=Sent (Ok)");
  CHECK(log.sink.found == Found{"joe@example.org > ann@ours.example", "joe@example.org > info@ours.example"});
  CHECK(log.left_out(LeftOut::other_sender) == 3);
}

TEST_CASE("past the bound the oldest message is dropped and counted") {
  Log log(false, 2);
  for (const std::string id : {"AAAAA1", "AAAAA2", "AAAAA3"}) {
    log.login(id);
    log.from(id);
  }
  CHECK(log.messages.open() == 2);
  CHECK(log.left_out(LeftOut::open) == 1);
  log.sent("AAAAA1", "<one@example.org>");
  log.sent("AAAAA2", "<two@example.org>");
  log.sent("AAAAA3", "<three@example.org>");
  CHECK(log.sink.found == Found{"two@example.org > ann@ours.example", "three@example.org > ann@ours.example"});
}

TEST_CASE("a login and a message that does not count are dropped without being counted") {
  Log log(false, 1);
  log.sendmail("AUTH=server, relay=pc [1.2.3.4], authid=ann, mech=PLAIN", "7");
  log.login("AAAAA1");
  log.from("AAAAA1", "<>");
  log.login("AAAAA2");
  CHECK(log.left_out(LeftOut::open) == 0);
  log.login("AAAAA3");
  CHECK(log.left_out(LeftOut::open) == 1);
}

TEST_CASE_METHOD(
    Log, "of Sendmail's recipients, those count to whom the user has written, and not what an alias stands for") {
  sendmail("AUTH=server, relay=pc [1.2.3.4], authid=ann, mech=PLAIN", "7");
  rules.most_recipients = 9;
  sendmail("aaaaaaa1: from=<Ann@ours.example>, nrcpts=9, relay=pc [1.2.3.4]", "7");
  sendmail("aaaaaaa1: to=<one@example.org>, ctladdr=<ann@mx.ours.example> (1000/1000), stat=Sent (ok)", "8");
  sendmail("aaaaaaa1: to=<two@example.org>, ctladdr=ANN (1000/1000), stat=Sent (ok)", "8");
  sendmail("aaaaaaa1: to=<evil@example.org>, ctladdr=<friends@example.org> (1/0), stat=Sent (ok)", "8");
  sendmail("aaaaaaa1: to=<evil@example.org>, ctladdr=<team@example.org> (1/0), stat=User unknown", "8");
  sendmail("aaaaaaa1: to=evil@example.org, stat=Sent (ok)", "8");
  CHECK(sink.found == Found{"one@example.org > ann@ours.example", "two@example.org > ann@ours.example",
                            "friends@example.org > ann@ours.example"});
  NextRun next(*this);
  next.sendmail("aaaaaaa1: to=<three@example.org>, ctladdr=<ann@mx.ours.example> (1000/1000), stat=Sent (ok)", "8");
  CHECK(next.sink.found == Found{"three@example.org > ann@ours.example"});
}

TEST_CASE_METHOD(Log, "clients of Sendmail count if they have logged in on the same connection") {
  const std::string from = ": from=<ann@ours.example>, size=1, nrcpts=2, daemon=MTA, relay=pc [1.2.3.4]";
  const std::string to = ": to=<joe@example.org>, mailer=esmtp, relay=mx. [5.6.7.8], dsn=2.0.0, stat=Sent (Ok)";
  sendmail("AUTH=server, relay=pc [1.2.3.4], authid=ann, mech=PLAIN, bits=0", "7");
  sendmail("AAAAA1" + from, "7");
  sendmail("AAAAA1" + to, "8");
  CHECK(sink.found.size() == 1);
  SECTION("with all recipients dealt with, it is closed") {
    CHECK(messages.open() == 2);
    sendmail("AAAAA1: to=<bob@example.org>, mailer=esmtp, stat=User unknown", "8");
    CHECK(messages.open() == 1);
    CHECK(left_out(LeftOut::not_delivered) == 1);
  }
  SECTION("another process has not logged in") {
    sendmail("AAAAA2" + from, "9");
    sendmail("AAAAA2" + to, "9");
    CHECK(sink.found.size() == 1);
    CHECK(left_out(LeftOut::no_login) == 1);
  }
  SECTION("nor has another client, when the process's number comes again") {
    sendmail("AAAAA2: from=<ann@ours.example>, size=1, nrcpts=1, relay=evil [6.6.6.6]", "7");
    sendmail("AAAAA2" + to, "7");
    CHECK(sink.found.size() == 1);
  }
}

TEST_CASE("every client counts if the operator says so") {
  Log log(true);
  log.postfix("pickup", "AAAAA1: uid=1000 from=<ann>");
  log.from("AAAAA1");
  log.sent("AAAAA1");
  log.sendmail("BBBBB1: from=<ann@ours.example>, size=1, nrcpts=2, relay=localhost [127.0.0.1]");
  log.sendmail("BBBBB1: to=<a@example.org>,<b@example.org>, mailer=esmtp, stat=Sent (Ok)");
  CHECK(log.sink.found.size() == 3);
  CHECK(log.left_out(LeftOut::no_login) == 0);
}

}  // namespace
}  // namespace bloomgate
