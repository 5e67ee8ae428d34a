#include "filter/mail/automatic_mail.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a message with an automatic field is recognised as automatic") {
  struct Case {
    std::string_view name, value;
    bool want;
  };
  const Case cases[] = {
      {"Auto-Submitted", "auto-replied", true},
      {"auto-submitted", "auto-generated; by=x", true},
      {"Auto-Submitted ", "auto-notified", true},
      {"Auto-Submitted", "no", false},
      {"Auto-Submitted", " No ; x=y", false},
      {"Auto-Submitted", "no(really)", false},
      {"Auto-Submitted", "(a (nested \\) one)) no", false},
      {"Auto-Submitted", "\r\n\tno", false},
      {"Auto-Submitted", "none", true},
      {"Auto-Submitted", "", true},
      {"Auto-Submitted", "(no", true},
      {"Auto-Submitted", "(no\\", true},
      {"Auto-Submitted", ")( no", true},
      {"Auto-Submitted", "((a) no)", true},
      {"Auto-Submitted", "\\xno", true},
      {"List-Id", "<list.example.org>", true},
      {"Precedence", "bulk", true},
      {"Precedence", "List", true},
      {"Precedence", " junk (as they say)", true},
      {"Precedence", "first-class", false},
      {"Precedence", "bulky", false},
      {"X-Precedence", "bulk", false},
      {"Precedence", "auto_reply", true},
      {"Precedence", "auto-reply", true},
      {"X-Auto-Reply", "yes", true},
      {"X-Autoreply-From", "<ann@ours.example>", true},
      {"X-Failed-Recipients", "joe@example.org", true},
      {"X-Autoreply", "yes", true},
      {"X-Autorespond", "ann@ours.example", true},
      {"x-autoreply", "No", false},
      {"X-Auto-Response-Suppress", "DR, OOF, AutoReply", true},
      {"Content-Type", "multipart/report; report-type=disposition-notification", true},
      {"Content-Type", "message/disposition-notification", true},
      {"Content-Type", " Message/Delivery-Status (x); charset=utf-8", true},
      {"Content-Type", "message/feedback-report", true},
      {"Content-Type", "message/rfc822", false},
      {"X-Content-Type", "message/feedback-report", false},
      {"List-Unsubscribe", "<mailto:x@ours.example>", true},
      {"Content-Type", "text/calendar; method=counter", true},
      {"Content-Type", "Text/Calendar; charset=utf-8;\r\n\tMethod = \"REPLY\"", true},
      {"Content-Type", "text/calendar; method-x=1; method=reply", true},
      {"Content-Type", "text/calendar; method=REQUEST", false},
      {"Content-Type", "text/calendar; name=methodreply.ics", false},
      {"Content-Type", "text/plain; method=REPLY", false},
      {"Content-Type", "multipart/mixed; boundary=x", false},
      {"Subject", "Auto-Submitted", false},
      {"Subject", "Unsubscribe", true},
      {"Subject", " unsubscribe:\r\n announce", true},
      {"Subject", "unsubscribe: announce\r\n joe", false},
      {"Subject", "unsubscribe dev-list", true},
      {"Subject", "[Unsubscribe] - dev", true},
      {"Subject", "Unsubscribe link in our newsletter is broken", false},
      {"Subject", "Abmelden", true},
      {"Subject", "Abmelden von Max am Freitag", false},
      {"Subject", "=?utf-8?q?Abmelden_?=\r\n =?utf-8?q?von_Max?=", false},
      {"Subject", "=?utf-8?q?Abme?=\r\n =?utf-8?b?bGRlbg==?=", true},
      {"Subject", "=?utf-8?q?Abmelden?= von Max", false},
      {"Subject", "Afmelden training zaterdag", false},
      {"Subject", "Leave", false},
      {"Subject", "Leave dev", false},
      {"Subject", "STOP", true},
      {"Subject", "\"Stop!\"", true},
      {"Subject", "Opt-out.", true},
      {"Subject", "Stop Friday", false},
      {"Subject", "Stop the press", false},
      {"Subject", "How do I unsubscribe?", false},
      {"Subject", "D\xe9sinscription", true},
      {"Subject", "=?utf-8?Q?D=C3=A9sinscription?=", true},
      {"Subject", " =?ISO-8859-1?q?D=E9sinscription_lettre?=", true},
      {"Subject", "=?ISO-8859-1?q?D=E9sinscription_lettre?= x", false},
      {"Subject", "=?utf-8?B?RMOpc2luc2NyaXB0aW9u?=", true},
      {"Subject", "=?utf-8?b?VW5zdWJzY3JpYmU=?=", true},
      {"Subject", "=?utf-8?q?Remove_me?=", true},
      {"Subject", "=?utf-8?q?Remove_my_d=C3=A9tails?=", false},
      {"Subject", "=?utf-8?x?Unsubscribe?=", false},
      {"Subject", "q?unsubscribe", false},
      {"Subject", "unsubscribe aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
       true},
      {"Subject", "=?utf-8?q?", false},
      {"Subject", std::string_view("=?utf-8?q?Unsubscribe?=").substr(0, 9), false},
      {"Subject", "=?utf-8", false},
      {"Subject", "=?", false},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name, each.value);
    CHECK(says_automatic(each.name, each.value) == each.want);
  }
  CHECK(says_report("content-type \t", "Multipart/Report; boundary=x"));
  CHECK(says_report("Content-Type", "multipart\r\n\t/ report; boundary=x"));
  CHECK(says_report("Content-Type", "multipart (one (two)) / (three) Report"));
  CHECK(says_report("Content-Type", "mmultipart/report"));
  CHECK_FALSE(says_report("Content-Type", "multipart (/report)"));
  CHECK_FALSE(says_report("Subject", "multipart/report"));
  CHECK_FALSE(says_report("Content-Type", "multipart/mixed"));
}

TEST_CASE("an address that no person reads is recognised by its local part") {
  for (const std::string_view each : {"unsubscribe",      "list-unsubscribe+joe=example.org",
                                      "Unsubscribe-4711", "leave-123",
                                      "dev-leave",        "dev+unsub",
                                      "SIGNOFF",          "x.opt-out",
                                      "leaven-leave",     "unsubscribe-abc123",
                                      "leave-1-2.x",      "d-request",
                                      "Dev-Request+x",    "remove",
                                      "remove-4711",      "remove+me",
                                      "dev_bounces",      "unsubscribe+x",
                                      "x.dev-leave",      "LISTSERV",
                                      "majordomo",        "optout",
                                      "noreply",          "no-reply+4711",
                                      "shop.noreply",     "do_not_reply",
                                      "DoNotReply",       "MAILER-DAEMON",
                                      "bounce",           "bounces+joe=example.org",
                                      "dev-bounces",      "mailer-daemon-1"}) {
    CAPTURE(each);
    CHECK(is_of_program(each));
  }
  for (const std::string_view each :
       {"-request",   "joe",          "cleaver",     "annual-leaves", "leaven",      "unsubtle",   "subscribe",
        "",           "request",      "requests",    "my-requests",   "removed",     "remover",    "postmaster",
        "abuse",      "trebounce",    "majordomos",  "old-remove",    "reply",       "no.replies", "john.leave",
        "leave.john", "bounce.house", "info.bounce", "remove.it",     "ann.signoff", "dev.unsub",  "a.leave-x",
        "majordomo.x"}) {
    CAPTURE(each);
    CHECK_FALSE(is_of_program(each));
  }
}

}  // namespace
}  // namespace bloomgate
