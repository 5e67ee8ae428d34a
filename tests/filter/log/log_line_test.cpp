#include "filter/log/log_line.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kShortDate = "Nov 20 10:00:00 ";
constexpr std::string_view kLongDate = "2026-11-20T10:00:00.123456+01:00 ";

std::string postfix(std::string_view agent, std::string_view text, std::string_view date = kShortDate) {
  return std::string(date) + "mx postfix/" + std::string(agent) + "[12]: " + std::string(text);
}

std::string sendmail(std::string_view text) {
  return std::string(kShortDate) + "mx sm-mta[34]: " + std::string(text);
}

TEST_CASE("Postfix logs the Message-ID") {
  const std::string line = postfix("cleanup", "4F1A2B: message-id=<1@ours.example>");
  const auto event = read_log_line(line);
  REQUIRE(event);
  CHECK(event->kind == LogEventKind::message_id);
  CHECK(event->message_id == "<1@ours.example>");
  CHECK_FALSE(event->day);
  // As copied from a machine with other line ends, and with a day.
  const std::chrono::sys_days latest = std::chrono::year(2026) / 11 / 27;
  const std::string copied = line + "\r";
  CHECK(read_log_line(copied, latest)->message_id == "<1@ours.example>");
  CHECK(read_log_line(copied, latest)->day == latest - std::chrono::days(7));
}

TEST_CASE("both forms of date give the same event, also with a further name of the service") {
  for (const std::string_view date : {kShortDate, kLongDate}) {
    for (const std::string_view agent : {"smtpd", "submission/smtpd"}) {
      const std::string line =
          postfix(agent, "4F1A2B3C: client=pc.example[192.0.2.7], sasl_method=PLAIN, sasl_username=ann", date);
      CAPTURE(line);
      const auto event = read_log_line(line);
      REQUIRE(event);
      CHECK(event->kind == LogEventKind::received);
      CHECK(event->login == "ann");
      CHECK(event->host == "mx");
      CHECK(event->queue_id == "4F1A2B3C");
    }
  }
}

TEST_CASE("in a numbered line the text begins behind all data and the mark of the byte order") {
  for (const std::string data : {"-", "[b c=\"]\"]", "[b c=\"]\"][d e=\"\\\"]\"]"}) {
    for (const std::string mark : {"", " ", "\xef\xbb\xbf", "\xef\xbb\xbf "}) {
      const std::string line =
          "<22>1 2026-11-20T10:00:00Z mx postfix/qmgr 1 - " + data + ' ' + mark + "4F1A2B: removed";
      CAPTURE(line);
      REQUIRE(read_log_line(line));
      CHECK(read_log_line(line)->queue_id == "4F1A2B");
    }
  }
}

TEST_CASE("a client without a login is not logged in, and a content filter names the message that it returns") {
  const std::string plain = postfix("smtpd", "4F1A2B3C: client=pc[192.0.2.7]");
  CHECK(read_log_line(plain)->login.empty());
  const std::string filtered =
      postfix("smtpd", "5F1A2B3C: client=localhost[127.0.0.1], orig_queue_id=4F1A2B3C, orig_client=pc[192.0.2.7]");
  CHECK(read_log_line(filtered)->origin == "4F1A2B3C");
  CHECK(read_log_line(filtered)->login.empty());
}

TEST_CASE("the lines of Postfix are read as events") {
  struct Case {
    std::string_view agent;
    std::string_view text;
    LogEventKind kind;
    std::string_view path;
    std::uint32_t recipients;
  };
  const auto test = GENERATE(values<Case>({
      {"pickup", "3zHk2g1Yz8: uid=33 from=<www-data>", LogEventKind::received, "", 0},
      {"qmgr", "4F1A2B: from=<ann@ours.example>, size=400, nrcpt=12 (queue active)", LogEventKind::sender,
       "<ann@ours.example>", 12},
      {"qmgr", "4F1A2B: from=<>, size=400, nrcpt=1 (queue active)", LogEventKind::sender, "<>", 1},
      {"qmgr", "4F1A2: removed", LogEventKind::removed, "", 0},
      {"smtp", "4F1A2B: to=<joe@example.org>, relay=mx[1.2.3.4]:25, delay=0.1, dsn=2.0.0, status=sent (250 Ok)",
       LogEventKind::delivered, "<joe@example.org>", 0},
      {"smtp", "4F1A2B: to=<joe@example.org>, orig_to=<j@ours.example>, relay=mx[1.2.3.4]:25, status=sent (250 Ok)",
       LogEventKind::delivered, "<j@ours.example>", 0},
      {"qmgr", "4F1A2B: from=<ann@ours.example>, size=400, nrcpt=x (queue active)", LogEventKind::sender,
       "<ann@ours.example>", 0},
      {"qmgr", "3zHk2g1Yz83zHk2g1Yz83zHk2g1Yz8ab: removed", LogEventKind::removed, "", 0},
      {"lmtp", "4F1A2B: to=<joe@example.org>, relay=mx[1.2.3.4]:25, status=sent (250 Ok)", LogEventKind::delivered,
       "<joe@example.org>", 0},
      {"pipe", "4F1A2B: to=<a@b.example>,<\"c, d\"@b.example>, relay=dovecot, status=sent (ok)",
       LogEventKind::delivered, "<a@b.example>,<\"c, d\"@b.example>", 0},
      {"smtp", "4F1A2B: to=<joe@example.org>, relay=mx[1.2.3.4]:25, status=sent (250 2.7.0 Ok, Discarded, id=1)",
       LogEventKind::failed, "<joe@example.org>", 0},
      {"smtp", "4F1A2B: to=<discarded@example.org>, relay=mx[1.2.3.4]:25, status=sent (250 Ok)",
       LogEventKind::delivered, "<discarded@example.org>", 0},
      {"smtp", "4F1A2B: to=<joe@example.org>, relay=mx[1.2.3.4]:25, status=bounced (host said: no)",
       LogEventKind::failed, "<joe@example.org>", 0},
      {"error", "4F1A2B: to=<joe@example.org>, relay=none, status=bounced (no such domain)", LogEventKind::failed,
       "<joe@example.org>", 0},
      {"cleanup", "4F1A2B: info: header Auto-Submitted: auto-replied from local; from=<ann@ours.example>",
       LogEventKind::automatic, "", 0},
      {"cleanup", "4F1A2B: info: header List-Id: no more <l.example.org> from local", LogEventKind::automatic, "", 0},
      {"cleanup", "4F1A2B: info: header precedence: bulk from local", LogEventKind::automatic, "", 0},
      {"cleanup",
       "4F1A2B: info: header Subject: stop from unknown[1.2.3.4]; from=<a@ours.example> to=<j@example.org> proto=ESMTP "
       "helo=<pc from pc>",
       LogEventKind::automatic, "", 0},
      {"cleanup", "4F1A2B: info: header Subject: Remove from pc.example[2001:db8::1]:25; from=<a@ours.example>",
       LogEventKind::automatic, "", 0},
      {"cleanup", "4F1A2B: info: header Subject: unsubscribe dev-list from local; from=<a@ours.example>",
       LogEventKind::automatic, "", 0},
      {"cleanup", "4F1A2B: info: header content-type : text/Calendar;? Method=\t\"reply\"? x=y from local;",
       LogEventKind::automatic, "", 0},
  }));
  const std::string line = postfix(test.agent, test.text);
  CAPTURE(line);
  const auto event = read_log_line(line);
  REQUIRE(event);
  CHECK(event->kind == test.kind);
  CHECK(event->text == test.path);
  CHECK(event->recipients == test.recipients);
  CHECK_FALSE(event->is_sendmail);
}

TEST_CASE("lines that are not events, or only look like them, are passed over") {
  const std::vector<std::string> lines = {
      "",
      "nonsense",
      std::string(kShortDate),
      postfix("smtp",
              "4F1A2B: to=<joe@example.org>, relay=mx[1.2.3.4]:25, dsn=4.0.0, status=deferred (status=sent (x))"),
      // What another server, or a stranger, has put there.
      postfix("smtp", "4F1A2B: to=<\"x>, status=sent (\"@example.org>, relay=mx[1.2.3.4]:25, status=deferred (no)"),
      postfix("smtp", "4F1A2B: to=<joe@example.org"),
      postfix("qmgr", "4F1A: removed"),
      postfix("qmgr", "from=<ann@ours.example>, size=400, nrcpt=1 (queue active)"),
      postfix("cleanup", "4F1A2B: info: header Subject: stop from x[1.2.3.4; from=<a@ours.example>"),
      postfix("qmgr", "3zHk2g1Yz83zHk2g1Yz83zHk2g1Yz8abc: removed"),
      postfix("pickup", "4F1A2B: gid=33 from=<www-data>"),
      postfix("cleanup", "4F1A2B: info: header Content-Type: text/calendar; method=REQUEST from local;"),
      postfix("cleanup", "4F1A2B: info: header Content-Type: text/calendar; charset=utf-8 from local;"),
      postfix("cleanup", "4F1A2B: info: header Content-Type: text/plain; method=REPLY from local;"),
      postfix("cleanup", "4F1A2B: info: header Content-Class: text/calendar; method=REPLY from local;"),
      postfix("cleanup", "4F1A2B: info: header Auto-Submitted"),
      postfix("smtp", "4F1A2B: enabling PIX workarounds: disable_esmtp for mx[1.2.3.4]:25"),
      postfix("discard", "4F1A2B: to=<joe@example.org>, relay=none, status=sent (discarded)"),
      postfix("error", "4F1A2B: to=<joe@example.org>, relay=none, status=sent (x)"),
      postfix("smtpd", "NOQUEUE: client=pc[192.0.2.7], sasl_method=PLAIN, sasl_username=ann"),
      postfix("smtpd", "disconnect from pc[192.0.2.7] ehlo=1 auth=1 mail=1 rcpt=1 data=1 quit=1 commands=6"),
      postfix("smtpd", "4F1A2: reject: RCPT from pc[192.0.2.7]: client=pc[1.2.3.4], sasl_username=ann"),
      postfix("qmgr", "4F1A2B: from=<ann@ours.example>, status=expired, returned to sender"),
      postfix("cleanup", "4F1A2B: info: header Auto-Submitted: no from local; from=<ann@ours.example>"),
      postfix("cleanup", "4F1A2B: info: header Subject: Auto-Submitted: auto-replied from local"),
      postfix("cleanup",
              "4F1A2B: info: header Subject: stop from x[1.2.3.4]; it from y[1.2.3.4]; from=<a@ours.example>"),
      postfix("cleanup", "4F1A2B: info: header Subject: stop from [x]; from=<a@ours.example>"),
      postfix("cleanup", "4F1A2B: info: header Subject: stop from a]b[; from=<a@ours.example>"),
      postfix("cleanup", "4F1A2B: info: header Subject: stop from pc[1.2.3.4] now"),
      postfix("qmgr", "4F1A2B; removed"),
      postfix("cleanup", "4F1A2B: resent-message-id=<1@ours.example>"),
      std::string(kShortDate) + "mx dovecot: lda(joe): 4F1A2B: removed",
      std::string(kShortDate) + "mx qmgr[1]: 4F1A2B: removed",
  };
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK_FALSE(read_log_line(line));
  }
}

TEST_CASE("a log's line begins with a date, a host and a program") {
  for (const char* line : {"Nov 20 10:00:00 mx postfix/qmgr[1]: x",
                           "Nov  2 10:00:00 mx kernel: x",
                           "2026-11-20T10:00:00+01:00 mx sm-mta[1]: x",
                           "2026-11-20T10:00:00Z mx a: x",
                           "Nov 20 10:00:00.123456 mx a: x",
                           "<22>Nov 20 10:00:00 mx a: x",
                           "<22>1 2026-11-20T10:00:00Z mx a - - - x",
                           "<22>1 2026-11-20T10:00:00Z mx a 1 - [b c=\"]\"][d] x",
                           "Fri 2026-11-20 10:00:00 CET mx a: x",
                           "Nov 20 10:00:00 a[1]: x",
                           "Nov 20 10:00:00 mx mail.info a: x",
                           "Nov 20 10:00:00 mx   a: x",
                           "2026-11-20T10:00:00.1Z Nov 20 10:00:00 mx a: x",
                           "[pod/a/b] Nov 20 10:00:00 mx a: x",
                           "\xef\xbb\xbf"
                           "Nov 20 10:00:00 mx a: x",
                           "mail_1.a-b  | Nov 20 10:00:00 mx a: x",
                           "<2>Nov 20 10:00:00 mx a: x",
                           "<191>Nov 20 10:00:00 mx mail.z a: x",
                           "Nov 20 10:00:00 mx mail.info: x",
                           "<22>1 2026-11-20T10:00:00Z mx a 1 - [b c=\"\\\"]\"] x",
                           "<22>1 2026-11-20T10:00:00Z mx a 1 - [b]",
                           "Fri 2026-11-20 10:00:00 ABCDEF mx a: x"}) {
    CAPTURE(line);
    CHECK(is_log_line(line));
  }
  for (const char* line : {"Nov 20 10.00:00 mx a: x",
                           "Nov 20 10:00.00 mx a: x",
                           "Nov-20 10:00:00 mx a: x",
                           "Nov 20-10:00:00 mx a: x",
                           "Nov 20 10:00:00-mx a: x",
                           "2026-11-20 10:00:00 mx a: x",
                           "2026/11-20T10:00:00 mx a: x",
                           "2026-11/20T10:00:00 mx a: x",
                           "2026-11-20T10.00:00 mx a: x",
                           "Nov 20 10:00:00 mx a",
                           "Nov 20 10:00:00 mx a b: x",
                           "Nov 20 10:00:00  a: x",
                           "Nov 20 10:00:00 mx a[1: x",
                           "Nov 20 10:00:00. mx a: x",
                           "<22>1 2026-11-20T10:00:00Z mx a 1 - [b c=\"] x",
                           "<22>1 2026-11-20T10:00:00Z mx a 1 - x",
                           "<22>2 2026-11-20T10:00:00Z mx a - - - x",
                           "<2222>Nov 20 10:00:00 mx a: x",
                           "Fri 2026-11-20 10.00:00 CET mx a: x",
                           "Fri 2026-11-20",
                           "[pod/a/b Nov 20 10:00:00 mx a: x",
                           "Nov 20 10:00:00 mx : x",
                           "mail server | Nov 20 10:00:00 mx a: x",
                           "| Nov 20 10:00:00 mx a: x",
                           "<>Nov 20 10:00:00 mx a: x",
                           "<22 Nov 20 10:00:00 mx a: x",
                           "<22>1 2026-11-20T10:00:00Z  a 1 - - x",
                           "<22>1 2026-11-20T10:00:00Z mx  1 - - x",
                           "<22>1 2026-11-20T10:00:00Z mx a 1 - b] x",
                           "<22>1 2026/11/20 mx a 1 - - x",
                           "Nov 20 10:00:00 mx Mail.info a: x",
                           "Nov 20 10:00:00 mx .info a: x",
                           "Nov 20 10:00:00 mx mail. a: x",
                           "Nov 20 10:00:00 mx mail.in.fo a: x",
                           "Fri 2026/11-20 10:00:00 CET mx a: x",
                           "Fri 2026-11/20 10:00:00 CET mx a: x",
                           "Fri 2026-11-20T10:00:00 CET mx a: x",
                           "Fri 2026-11-20 10:00.00 CET mx a: x",
                           "Fri,2026-11-20 10:00:00 CET mx a: x",
                           "Fri 2026-11-20 10:00:00  mx a: x",
                           "Fri 2026-11-20 10:00:00 ABCDEFG mx a: x",
                           "Nov 20 10:00:00.12x mx a: x",
                           "Nov 20 10:00:00 mx a:x"}) {
    CAPTURE(line);
    CHECK_FALSE(is_log_line(line));
  }
  const std::string host(255, 'h'), name(78, 'n'), fraction(20, '1');
  for (const std::string date : {"Nov 20 10:00:00 ", "<22>1 2026-11-20T10:00:00Z "}) {
    const std::string end = date.starts_with('<') ? " a - - - x" : " a: x";
    CHECK(is_log_line(date + host + end));
    CHECK_FALSE(is_log_line(date + host + "h" + end));
  }
  CHECK(is_log_line(name + "| Nov 20 10:00:00 mx a: x"));
  CHECK_FALSE(is_log_line(name + "n| Nov 20 10:00:00 mx a: x"));
  CHECK(is_log_line("2026-11-20T10:00:00" + fraction + "Z mx a: x"));
  CHECK_FALSE(is_log_line("2026-11-20T10:00:00" + fraction + "1Z mx a: x"));
}

TEST_CASE("the lines of Sendmail are read as events") {
  const std::string from = sendmail(
      "5AKA0001: from=<ann@ours.example>, size=400, class=0, nrcpts=2, msgid=<1@ours.example>, proto=ESMTP, "
      "daemon=MTA, "
      "relay=pc.example [192.0.2.7]");
  const auto sender = read_log_line(from);
  REQUIRE(sender);
  CHECK(sender->kind == LogEventKind::sender);
  CHECK(sender->is_sendmail);
  CHECK(sender->text == "<ann@ours.example>");
  CHECK(sender->recipients == 2);
  CHECK(sender->process == "34");
  CHECK(sender->relay == "pc.example [192.0.2.7]");

  for (const std::string_view id : {"<2@evil>", "<2@evil", "\"", "<>, nrcpts=9"}) {
    const std::string line =
        sendmail("5AKA0001: from=<ann@ours.example>, size=400, class=0, nrcpts=2, msgid=" + std::string(id) +
                 ", relay=pc [10.0.0.5], proto=ESMTP, daemon=MTA, relay=evil.example [203.0.113.9]");
    CAPTURE(line);
    const auto event = read_log_line(line);
    REQUIRE(event);
    CHECK(event->relay == "evil.example [203.0.113.9]");
    CHECK(event->recipients == 2);
  }

  for (const std::string_view id : {"", "5AKA0001: "}) {
    const std::string login =
        sendmail(std::string(id) + "AUTH=server, relay=pc.example [192.0.2.7], authid=ann, mech=PLAIN, bits=0");
    const auto event = read_log_line(login);
    REQUIRE(event);
    CHECK(event->kind == LogEventKind::login);
    CHECK(event->process == "34");
    CHECK(event->relay == sender->relay);
    CHECK(event->login == "ann");
  }

  const std::string to =
      "5AKA0001: to=<joe@example.org>,<bob@example.org>, ctladdr=<ann@ours.example> (1000/1000), "
      "delay=00:00:01, mailer=esmtp, pri=1, relay=mx.example.org. [203.0.113.1], dsn=2.0.0, stat=";
  const std::string sent_line = sendmail(to + "Sent (250 Ok)");
  const auto sent = read_log_line(sent_line);
  REQUIRE(sent);
  CHECK(sent->kind == LogEventKind::delivered);
  CHECK(sent->text == "<joe@example.org>,<bob@example.org>");
  CHECK(sent->alias == "<ann@ours.example>");
  CHECK(sender->message_id == "<1@ours.example>");
  const std::string failed = sendmail(to + "User unknown");
  CHECK(read_log_line(failed)->kind == LogEventKind::failed);
  const std::string discarded = sendmail(to + "Sent (250 2.7.0 Ok, discarded)");
  CHECK(read_log_line(discarded)->kind == LogEventKind::failed);
  for (const std::string_view status : {"Deferred: Connection refused", "queued", ""}) {
    const std::string line = sendmail(to + std::string(status));
    CHECK_FALSE(read_log_line(line));
  }
  for (const std::string program : {"sendmail", "sm-que"}) {
    const std::string line = std::string(kShortDate) + "mx " + program + "[34]: 5AKA0001: from=joe (1/2), nrcpts=1";
    CHECK(read_log_line(line)->text == "joe (1/2)");
  }
  const std::string no_user = sendmail("5AKA0001: to=<a@b.example>, ctladdr=<ann@ours.example> (x, stat=Sent");
  CHECK(read_log_line(no_user)->alias == "<ann@ours.example> (x");
}

TEST_CASE("a list of paths is cut at commas outside the paths") {
  std::string_view paths = "<joe@example.org>,\"a\\\",b\"@example.org,<\"x\\\",y\"@example.org>,z";
  CHECK(take_path(paths) == "<joe@example.org>");
  CHECK(take_path(paths) == "\"a\\\",b\"@example.org");
  CHECK(take_path(paths) == "<\"x\\\",y\"@example.org>");
  CHECK(take_path(paths) == "z");
  CHECK(paths.empty());
  std::string_view route = "<@relay.example,@other.example:joe@example.org>,z";
  CHECK(take_path(route) == "<@relay.example,@other.example:joe@example.org>");
}

}  // namespace
}  // namespace bloomgate
