// Sent mail and address books: what a source is, and whom it names.
#include <string>

#include "filter/base/error.hpp"
#include "filter/contacts/address_book.hpp"
#include "filter/contacts/mail_reader.hpp"
#include "filter/log/log_line.hpp"
#include "filter/mail/utf16_text.hpp"
#include "sink.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

struct Source {
  HarvestRules rules = {.own_domains = OwnDomains({"ours.example"}), .most_recipients = 3};
  HarvestCounts counts = {};
  Sink sink = {};

  // All at once, or line by line as blocks may come.
  void read(SourceReader& reader, std::string_view text, bool line_by_line = false) {
    while (line_by_line && !text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      reader.read(text.substr(0, end));
      text.remove_prefix(end);
    }
    reader.read(text);
    reader.finish();
  }
  Found message(std::string_view text) {
    MailReader reader(rules, kAnn, counts, sink, false);
    read(reader, text);
    return sink.found;
  }
  std::uint64_t left_out(LeftOut kind) const { return counts.left_out[static_cast<std::size_t>(kind)]; }
};

TEST_CASE("the kind of a source is recognised by its first lines") {
  CHECK(recognise_source("From ann@ours.example Fri Nov 20 10:00:00 2026\nFrom: a@b\n") == SourceKind::mbox);
  CHECK(recognise_source("Return-Path: <ann@ours.example>\r\n") == SourceKind::message);
  CHECK(recognise_source("\xef\xbb\xbf"
                         "begin:vcard\r\n") == SourceKind::vcard);
  CHECK(recognise_source("Nov 20 10:00:00 mx postfix/qmgr[1]: 4F1A2B: removed\n") == SourceKind::log);
  CHECK(recognise_source("2026-11-20T10:00:00+01:00 mx sm-mta[1]: x\n") == SourceKind::log);
  CHECK(recognise_source("-- Journal begins at Fri 2026-11-20 10:00:00 UTC. --\n") == SourceKind::log);
  CHECK(recognise_source("user,contact\n") == SourceKind::csv);
  CHECK(recognise_source("Name,E-mail Address\n") == SourceKind::csv);
  for (const char* text : {"", "\n", "joe@example.org\n", "some words\n", "Name,Address\n", ": x\n", "Notes:\n",
                           "X-Mailer: x\n\n", "From: ann@ours.example\nno field\n\n", "Send mail to us\n",
                           "Send your e-mail to us, we are\n", "mail.example.org is up, and so is mail2\n",
                           "joe@example.org,mail\n", "Name,Mailing address,E-mail Display Name,E-mail Type\n",
                           "Name,e.mail\n", "Other e-mail 2\n", "To : a@b\n\n", " X: y\nFrom: a@b\n"}) {
    CAPTURE(text);
    CHECK_FALSE(recognise_source(text));
  }
}

TEST_CASE("text before a log's lines or a table does not prevent recognising it") {
  const std::string line = "Nov 20 10:00:00 mail postfix/qmgr[1]: 4F1A2B: removed\n";
  for (const std::string& first :
       {std::string("last message repeated 2 times\n"), std::string("Nov 20 10:00:00 mail -- MARK --\n"),
        std::string(8192, '\0'), std::string("\n\n"), std::string("mailserver-1  | "), std::string("\xef\xbb\xbf"),
        std::string("Attaching to mailserver-1\nmailserver-1  | ")}) {
    CAPTURE(first);
    CHECK(recognise_source(first + line) == SourceKind::log);
  }
  for (const char* const text :
       {"Notes:\n\"When exporting your data, you may notice that some of the mail addresses are missing.\"\n\n"
        "First Name,Last Name,URL,Email Address,Company\n",
        "\xef\xbb\xbf"
        "Vorname;Nachname;E-Mail-Adresse\n",
        "Name\tE-mail\n", "E-Mail\n", "user, contact\n",
        "Name,mail mail mail mail mail mail mail mail mail mail mail 12345\n"}) {
    CAPTURE(text);
    CHECK(recognise_source(text) == SourceKind::csv);
  }
  CHECK_FALSE(recognise_source("Name,mail mail mail mail mail mail mail mail mail mail mail 123456\n"));
  // Below 49 lines, and below 50.
  std::string notes = "Notes";
  for (int end = 1; end < 50; ++end) notes += "\n";
  CHECK(recognise_source(notes + "Name,E-mail\n") == SourceKind::csv);
  CHECK_FALSE(recognise_source(notes + "\nName,E-mail\n"));
  CHECK(recognise_source("X-Odd: x\n folded\nReceived: from x\nSubj") == SourceKind::message);
}

TEST_CASE("zeros and a byte order mark before a log's first line do not hide the line") {
  const std::string line = "Nov 20 10:00:00 mail postfix/qmgr[1]: 4F1A2B: removed";
  for (const std::string& before : {std::string("\xef\xbb\xbf"), std::string(8192, '\0')}) {
    CAPTURE(before.size());
    const auto event = read_log_line(before + line);
    REQUIRE(event);
    CHECK(event->kind == LogEventKind::removed);
  }
}

TEST_CASE("the lines of a container's log are read as those of any other") {
  CHECK(read_log_line("mailserver-1  | Nov 20 10:00:00 mail postfix/qmgr[1]: 4F1A2B: removed")->kind ==
        LogEventKind::removed);
  CHECK_FALSE(read_log_line("mail server | Nov 20 10:00:00 mail postfix/qmgr[1]: 4F1A2B: removed"));
}

TEST_CASE_METHOD(Source, "a table may have semicolons or tabs, and a name that looks like an address lists no sender") {
  for (const std::string between : {";", "\t"}) {
    Source source;
    CsvContactsReader reader(source.rules, source.counts, source.sink, kAnn, true);
    source.read(reader, "Name" + between + "E-mail Address" + between + "E-mail Display Name\r\nJoe, Doe" + between +
                            "joe@example.org" + between + "evil@evil.example\r\n");
    CHECK(source.sink.found == Found{"joe@example.org > ann@ours.example"});
  }
}

TEST_CASE_METHOD(Source, "a sent message names its sender's contacts, in groups, names and folded fields too") {
  CHECK(message("From: \"Ann, of us\" <Ann@ours.example>\r\n"
                "To: Joe (a friend) <Joe@Example.org>,\r\n"
                "\tfriends: bob@example.org, \"a,b\"@example.org;\r\n"
                "Subject: To: evil@example.org\r\n"
                "X-To: evil@example.org\r\n"
                "\r\n"
                "To: evil@example.org\r\n") == Found{"joe@example.org > ann@ours.example",
                                                     "bob@example.org > ann@ours.example",
                                                     "\"a,b\"@example.org > ann@ours.example"});
  CHECK(counts.messages == 1);
  CHECK(counts.contacts == 3);
}

TEST_CASE_METHOD(Source, "Cc and Bcc count, own domains do not, and an encoded name is not an address") {
  CHECK(message("FROM: ann@ours.example\nCc: joe@example.org\n"
                "bcc: =?utf-8?q?evil=40example=2Eorg?= <bob@example.org>, zoe@ours.example\n") ==
        Found{"joe@example.org > ann@ours.example", "bob@example.org > ann@ours.example"});
  CHECK(left_out(LeftOut::own_domain) == 1);
}

TEST_CASE("messages that no user sent, or that have many recipients, are left out") {
  struct Case {
    std::string header;
    LeftOut reason;
  };
  const std::string from = "From: ann@ours.example\n";
  const std::string to = "To: joe@example.org\n";
  const std::string quarter(MessageHeader::kMostBytes / 4, 'x');
  const auto test = GENERATE_COPY(values<Case>({
      {from + to + "Auto-Submitted: auto-replied (vacation)\n", LeftOut::automatic},
      {from + to + "List-ID: <l.example.org>\n", LeftOut::automatic},
      {from + to + "Precedence: bulk\n", LeftOut::automatic},
      {from + to + "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/calendar; method=REPLY\n",
       LeftOut::automatic},
      {from + to + "Return-Path: <>\nDelivered-To: <ann@ours.example>\n", LeftOut::null_sender},
      {from + to + "Return-Path: <ann@ours.example>\n", LeftOut::received},
      {from + to + "Delivered-To: ann@ours.example\n", LeftOut::received},
      {from + to + "X-Original-To: ann@ours.example\n", LeftOut::received},
      {from + "To: a@x.example, b@x.example, c@x.example, d@x.example\n", LeftOut::many_recipients},
      {from + "To: " + std::string(MessageHeader::kMostBytes, 'a') + "\n", LeftOut::many_recipients},
      {from + "To: x@x.example,\n\t" + std::string(MessageHeader::kMostBytes, 'a') + "\n", LeftOut::many_recipients},
      {"From: ann@ours.example (" + quarter + ")\nTo: joe@example.org (" + quarter + ")\nMessage-ID: <1@x> (" +
           quarter + ")\nDate: Fri, 20 Nov 2026 10:00:00 +0000 (" + quarter + ")\n",
       LeftOut::many_recipients},
      {"From: ann@example.org\n" + to, LeftOut::foreign_sender},
      {"From: ann\n" + to, LeftOut::foreign_sender},
      {from + "From:\n" + to, LeftOut::unreadable},
      {"From: ann@ours.example, bob@ours.example\n" + to, LeftOut::unreadable},
      {to, LeftOut::unreadable},
      {from, LeftOut::unreadable},
      {from + "To: \"joe@example.org\n", LeftOut::unreadable},
      {from + "To: undisclosed-recipients:;\n", LeftOut::unreadable},
  }));
  CAPTURE(test.header);
  Source source;
  CHECK(source.message(test.header + "\nHello\n").empty());
  CHECK(source.left_out(test.reason) == 1);
  CHECK(source.counts.messages == 0);
}

TEST_CASE_METHOD(Source, "a message among users alone does not count") {
  CHECK(message("From: ann@ours.example\nTo: zoe@ours.example\n\n").empty());
  CHECK(counts.messages == 0);
}

TEST_CASE("the addresses of a field are those outside of names and comments, if it is clear which they are") {
  using namespace std::string_view_literals;
  const Found joe = {"joe@example.org"};
  const std::pair<std::string_view, Found> cases[] = {
      {"joe@example.org (evil@evil.example)", joe},
      {"joe@example.org(evil@evil.example)", joe},
      {"(a (b) c) joe@example.org", joe},
      {"(\\)) joe@example.org", joe},
      {"(\" < > , ; :) joe@example.org", joe},
      {"\"( < > , ; : \\\" \" <joe@example.org>", joe},
      {"\"evil@evil.example\" <joe@example.org> (x)", joe},
      {"evil@evil.example <joe@example.org>", joe},
      {"friends: joe@example.org;", joe},
      {"friends: joe@example.org, Zoe <zoe@example.org>;, bob@example.org",
       {"joe@example.org", "zoe@example.org", "bob@example.org"}},
      {"a <b>: joe@example.org;", joe},
      {"\"a b\"@example.org", {"\"a b\"@example.org"}},
      {"\"a\\\" b\"@example.org", {"\"a\\\" b\"@example.org"}},
      {"<\"a,b\"@example.org>", {"\"a,b\"@example.org"}},
      {"evil@evil.example joe@example.org, joe@example.org", joe},
      {"<evil@evil.example> x, joe@example.org", joe},
      {"<evil@evil.example> <evil2@evil.example>, joe@example.org", joe},
      {"x <evil@evil.example> <, joe@example.org>", {}},
      {"joe@example.org, \"x", {}},
      {"joe@example.org, (x", {}},
      {"joe@example.org, (x\\)", {}},
      {"joe@example.org, \"x\\", {}},
      {"joe@example.org )", {}},
      {"joe@example.org, <x", {}},
      {"joe@example.org, x>", {}},
      {"<<joe@example.org>>", {}},
      {"joe@example.org, a\\b", {}},
      {"joe@example.org,\0"sv, {}},
      {"", {}},
  };
  for (const auto& [value, want] : cases) {
    CAPTURE(value);
    CHECK(addresses_of(value) == want);
  }
}

TEST_CASE("decoding a name loads no converter of a character set") {
  for (const char* const value : {"=?EUC-KR?q?Ann?= <ann@example.org>",
                                  "=?utf-8?q?Ann?= <ann@example.org>, =?EUC-KR?q?Joe=B0=A1?= <joe@example.org>"}) {
    CHECK(addresses_of(value).front() == "ann@example.org");
  }
  CHECK(test::read_file("/proc/self/maps").find("EUC-KR") == std::string::npos);
}

TEST_CASE_METHOD(Source, "of a body only the start is read, and only if it may have a calendar") {
  const std::string header =
      "From: ann@ours.example\nTo: joe@example.org\nContent-Type: multipart/mixed; boundary=x\n\n";
  const std::string reply = "\n--x\nContent-Type: text/calendar; method=REPLY\n\n";
  for (const std::size_t bytes : {1'000U, 65'536U}) {
    Source source;
    MailReader reader(source.rules, kAnn, source.counts, source.sink, false);
    reader.read(header);
    CHECK(reader.wants_more());
    reader.read(std::string(bytes, 'x') + reply);
    CHECK(reader.wants_more() == (bytes == 1'000));
    reader.finish();
    CHECK(source.counts.messages == (bytes == 1'000 ? 0U : 1U));
  }
}

TEST_CASE_METHOD(Source, "a contact has the mark of its message: the identifier or the date, and the day") {
  const std::string letter = "From: ann@ours.example\nTo: joe@example.org\nDate: Fri, 20 Nov 2026 10:00:00 +0000\n";
  message(letter + "Message-ID: <1@ours.example>\n\n");
  const MessageMark named = mark_of("1@ours.example", "", false);
  CHECK((sink.last.hash == named.hash && sink.last.is_named && !sink.last.is_logged));
  CHECK(sink.last.day == std::chrono::sys_days(std::chrono::days(20'777)));
  message(letter + "Message-ID: <1@ours.example> <2@ours.example>\n\n");
  const MessageMark dated = mark_of("", "Fri, 20 Nov 2026 10:00:00 +0000", false);
  CHECK((sink.last.hash == dated.hash && !sink.last.is_named && !sink.last.is_logged));
}

TEST_CASE_METHOD(Source, "a message that says it is not automatic counts") {
  CHECK(message("From: ann@ours.example\nTo: joe@example.org\nAuto-Submitted: No; x=y\n\n").size() == 1);
}

TEST_CASE("an mbox is read message by message, and a line of text that begins with From starts no message") {
  const std::string mbox =
      "From ann@ours.example Fri Nov 20 10:00:00 2026\nFrom: ann@ours.example\nTo: joe@example.org\n\nHello\n"
      "From Monday 10:00 on\nFrom: ann@ours.example\nTo: evil@example.org\n\n"
      "Hello\nFrom eve@ours.example Fri Nov 20 10:30:00 2026\nFrom: eve@ours.example\nTo: evil@example.org\n\n"
      "From here: to there\nFrom: ann@ours.example\nTo: evil@example.org\n\n"
      "From Monday at 10:30 on we meet\nFrom: ann@ours.example\nTo: evil@example.org\n\n"
      "From here to there\nFrom: ann@ours.example\nTo: evil@example.org\n\n"
      "From bob@ours.example Fri Nov 20 11:00:00 2026\nFrom: bob@ours.example\nTo: zoe@example.org\n";
  for (const bool line_by_line : {false, true}) {
    Source source;
    MailReader reader(source.rules, kAnn, source.counts, source.sink, true);
    source.read(reader, mbox, line_by_line);
    CHECK(source.sink.found == Found{"joe@example.org > ann@ours.example", "zoe@example.org > ann@ours.example"});
  }
}

TEST_CASE("a message of an mbox begins with a line that has a date, or with From alone") {
  struct Case {
    std::string_view line;
    bool begins;
  };
  for (const auto& [line, begins] : std::initializer_list<Case>{{"From x Fri Nov 20 10:00", true},
                                                                {"From x y  Sun Dec  6  9:05:00 2026", true},
                                                                {"From ", true},
                                                                {"From \t", true},
                                                                {"From", false},
                                                                {"From x", false},
                                                                {"From x Fri Nov 20 10:0", false},
                                                                {"From x Fri Nov 20 10-00", false},
                                                                {"From x Fri Nov 2x 10:00", false},
                                                                {"From x Fri Nov x0 10:00", false},
                                                                {"From x Fri Nov 20 x0:00", false},
                                                                {"From x Fri Nov 2  10:00", false},
                                                                {"From x Fri Nov 20 10:0x", false},
                                                                {"From x Fxi Nov 20 10:00", false},
                                                                {"From x Fri Nxv 20 10:00", false},
                                                                {"From x ri  Nov 20 10:00", false},
                                                                {"From x Fri ov  20 10:00", false},
                                                                {"FromxFri Nov 20 10:00", false}}) {
    CAPTURE(line);
    Source source;
    MailReader reader(source.rules, kAnn, source.counts, source.sink, true);
    source.read(reader, "From x Fri Nov 20 10:00:00 2026\nFrom: ann@ours.example\nTo: joe@example.org\n\n" +
                            std::string(line) + "\nFrom: ann@ours.example\nTo: zoe@example.org\n");
    CHECK(source.sink.found.size() == (begins ? 2U : 1U));
  }
}

TEST_CASE("the length of a body, if it can be right, says where the next message of an mbox begins") {
  const std::string body = "\nFrom x Fri Nov 20 10:00:00 2026\nFrom: ann@ours.example\nTo: evil@example.org\n\n";
  const std::string last = "From y Fri Nov 20 10:00:00 2026\nFrom: ann@ours.example\nTo: zoe@example.org\n";
  const auto found = [&](std::size_t length) {
    Source source;
    MailReader reader(source.rules, kAnn, source.counts, source.sink, true);
    source.read(reader,
                "From x Fri Nov 20 10:00:00 2026\nFrom: ann@ours.example\nTo: joe@example.org\nContent-Length: " +
                    std::to_string(length) + "\n\n" + body + last);
    return source.sink.found.size();
  };
  CHECK(found(body.size()) == 2);
  CHECK(found(body.size() + 1) == 1);
  CHECK(found(std::size_t{64} << 20) == 1);
  CHECK(found((std::size_t{64} << 20) + 1) == 3);
  CHECK(found(0) == 3);
}

TEST_CASE_METHOD(Source, "the file of a message is read no further than its header") {
  MailReader reader(rules, kAnn, counts, sink, false);
  reader.read("From: ann@ours.example\n");
  CHECK(reader.wants_more());
  reader.read("To: joe@example.org\n\n");
  CHECK_FALSE(reader.wants_more());
}

TEST_CASE("the addresses of vCards are read in all versions") {
  CHECK(vcard_address("EMAIL:joe@example.org") == "joe@example.org");
  CHECK(vcard_address("email;INTERNET;PREF:joe@example.org ") == "joe@example.org");
  CHECK(vcard_address("item1.EMAIL;TYPE=\"a:b;c\":mailto:joe@example.org") == "joe@example.org");
  CHECK(vcard_address("EMAIL:a\\,b@example.org") == "a,b@example.org");
  CHECK(vcard_address("EMAIL:a\\b@example.org\\") == "a\\b@example.org\\");
  for (const char* line :
       {"", "EMAIL", "XEMAIL:joe@example.org", "NOTE:EMAIL:joe@example.org", "EMAILX:joe@example.org"}) {
    CAPTURE(line);
    CHECK_FALSE(vcard_address(line));
  }
  Source source;
  VcardReader reader(source.rules, source.counts, source.sink, kAnn);
  source.read(reader,
              "BEGIN:VCARD\r\nFN:Joe\r\nEMAIL:joe@exam\r\n ple.org\r\nPHOTO:" + std::string(9000, 'A') +
                  "\r\n  AAAA\r\nEMAIL:bob@ours.example\r\nEND:VCARD\r\nBEGIN:VCARD\r\n"
                  "AGENT:\r\n BEGIN:VCARD\r\nAGENT:\r\nBEGIN:VCARD\r\nEMAIL:eve@example.org\r\nEND:VCARD\r\n"
                  "EMAIL:zoe@exam\r\n\tple.org",
              true);
  CHECK(source.sink.found == Found{"joe@example.org > ann@ours.example", "zoe@example.org > ann@ours.example"});
  CHECK(reader.has_found());
  VcardReader empty(source.rules, source.counts, source.sink, kAnn);
  source.read(empty, "BEGIN:VCARD\r\nFN:Joe\r\nEND:VCARD\r\n");
  CHECK_FALSE(empty.has_found());
}

TEST_CASE("an address in quoted-printable, as vCard 2.1 may have it, is decoded") {
  CHECK(vcard_address("EMAIL;INTERNET;ENCODING=QUOTED-PRINTABLE:joe=40example.org") == "joe@example.org");
  CHECK(vcard_address("email;Quoted-Printable;internet:mailto:j=6Fe@example.org") == "joe@example.org");
  CHECK(vcard_address("EMAIL;X=\":;\"; ENCODING=QUOTED-PRINTABLE:joe=40example.org") == "joe@example.org");
  CHECK(vcard_address("EMAIL;CHARSET=UTF-8;encoding=quoted-printable:joe=2Bx@example.org=0D=0A") ==
        "joe+x@example.org");
  // Not encoded, or not by these rules.
  CHECK(vcard_address("EMAIL;INTERNET:joe=40example.org") == "joe=40example.org");
  CHECK(vcard_address("EMAIL;ENCODING=QUOTED-PRINTABLE:a=b@example.org=") == "a=b@example.org=");
  CHECK(vcard_address("EMAIL;X=QUOTED-PRINTABLE:a=40example.org") == "a=40example.org");
}

TEST_CASE_METHOD(Source, "a soft line break of vCard 2.1 joins lines, so that a note's text is no address") {
  VcardReader reader(rules, counts, sink, kAnn);
  read(reader,
       "BEGIN:VCARD\r\nVERSION:2.1\r\n"
       "NOTE;ENCODING=QUOTED-PRINTABLE:write to= \t\r\nEMAIL:evil@example.org=\r\n\r\n"
       "NOTE;" +
           std::string(5000, 'a') +
           ":=\r\nEMAIL:evil@example.org\r\n"
           "EMAIL;INTERNET;QUOTED-PRINTABLE:joe=40exam=\r\nple.org\r\n"
           "PHOTO;ENCODING=BASE64:AA==\r\nEMAIL:bob@example.org\r\nEMAIL:eve@example.org=\r\n"
           "NOTE;QUOTED-PRINTABLE:" +
           std::string(5000, 'a') +
           "=\r\nEMAIL:eve@example.org\r\n"
           "EMAIL:zoe@example.org\r\nEND:VCARD\r\n",
       true);
  CHECK(sink.found == Found{"joe@example.org > ann@ours.example", "bob@example.org > ann@ours.example",
                            "zoe@example.org > ann@ours.example"});
}

TEST_CASE_METHOD(Source, "the addresses of a table of contacts are in all columns for mail") {
  CsvContactsReader reader(rules, counts, sink, kAnn, true);
  read(reader,
       "Name,E-mail 1 - Type,E-mail 1 - Value,Primary Email\r\n"
       "\"Doe, \"\"Joe\r\nof there\",* Work,joe@example.org ::: Joe2@example.org,\r\n"
       "x@example.org,,,\"Zoe <zoe@example.org>\"\r\n"
       "broken\"row,,joe3@example.org\r\n"
       "6\" pipes,,max@example.org\r\n"
       "short\r\n"
       ",,max@example.org\r\n");
  CHECK(sink.found == Found{"joe@example.org > ann@ours.example", "joe2@example.org > ann@ours.example",
                            "zoe@example.org > ann@ours.example", "max@example.org > ann@ours.example"});
  CHECK(left_out(LeftOut::unreadable) == 2);
  CHECK(reader.has_found());
}

TEST_CASE("the names of a table's columns are those of the line that has the most of them") {
  const auto read_table = [](const std::string& text) {
    Source source;
    CsvContactsReader reader(source.rules, source.counts, source.sink, kAnn, true);
    source.read(reader, text);
    CHECK(reader.has_found() == !source.sink.found.empty());
    return source.sink.found;
  };
  const Found joe = {"joe@example.org > ann@ours.example"};
  CHECK(read_table("E-mail\n\nName,E-mail,Company\nJoe,joe@example.org,x\n") == joe);
  CHECK(read_table("sep=,\nName,E-mail,Company\n\nE-mail,Name\nJoe,joe@example.org,x\n") == joe);
  CHECK(read_table("Name,E-mail\nE-mail,Name,Company\nJoe,joe@example.org\n") == joe);  // a row of the table
  CHECK(read_table("Name,E-mail\nJoe,none\n").empty());
  CHECK(read_table("Notes\n \t\nName,E-mail\nJoe,joe@example.org\n") == joe);
  const std::string lines(49, '\n');
  CHECK(read_table(lines + "Name,E-mail\nJoe,joe@example.org\n") == joe);
  CHECK(read_table(lines + "\nName,E-mail\nJoe,joe@example.org\n").empty());
}

TEST_CASE("text in UTF-16 becomes UTF-8, and halves of characters are replaced") {
  using namespace std::string_view_literals;
  CHECK(is_utf16("\xff\xfe"sv));
  CHECK(is_utf16("\xfe\xff\0a"sv));
  CHECK_FALSE(is_utf16("\xff"sv));
  CHECK_FALSE(is_utf16("\xef\xbb\xbf"sv));
  struct Case {
    std::string_view bytes, want;
  };
  const Case cases[] = {
      {"\xff\xfe"sv, ""},
      {"\xff\xfe\x61\0\n\0\xf6\0\xac\x20"sv, "a\n\xc3\xb6\xe2\x82\xac"},
      {"\xfe\xff\0\x61\x20\xac\xd8\x3d\xde\0"sv, "a\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"\xff\xfe\x3d\xd8\0\xde"sv, "\xf0\x9f\x98\x80"},
      {"\xff\xfe\x3d\xd8\x61\0"sv, "\xef\xbf\xbd\x61"},
      {"\xff\xfe\0\xde\x61\0"sv, "\xef\xbf\xbd\x61"},
      {"\xff\xfe\x61\0\x62"sv, "a\xef\xbf\xbd"},
      // The first and the last character of each length, and those beside the halves.
      {"\xff\xfe\x7f\0\x80\0\xff\x07\0\x08\xff\xd7\0\xe0\xff\xff\0\xd8\0\xdc\xff\xdb\xff\xdf"sv,
       "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
      {"\xff\xfe\0\xd8\x61\0"sv, "\xef\xbf\xbd\x61"},
      {"\xff\xfe\xff\xdf\xff\xdb\0\xe0"sv, "\xef\xbf\xbd\xef\xbf\xbd\xee\x80\x80"},
      {"\xff\xfe\x3d\xd8"sv, "\xef\xbf\xbd"},
  };
  for (const Case& each : cases) CHECK(utf8_of_utf16(each.bytes) == each.want);
}

TEST_CASE_METHOD(Source, "a quote that does not end takes a bounded part of a table with it") {
  CsvContactsReader reader(rules, counts, sink, kAnn, true);
  std::string text = "Name,E-mail\n\"x,zoe@example.org\n";
  for (int row = 0; row < 20000; ++row) text += "x,max@example.org\n";
  read(reader, text);
  CHECK(left_out(LeftOut::unreadable) == 1);
  CHECK(counts.contacts == sink.found.size());
  CHECK(counts.contacts > 5000);
  CsvContactsReader cut(rules, counts, sink, kAnn, true);
  read(cut, "Name,E-mail\n\"x,joe@example.org\n");
  CHECK(left_out(LeftOut::unreadable) == 2);
}

TEST_CASE_METHOD(Source, "a table with two columns has pairs of user and contact") {
  CsvContactsReader reader(rules, counts, sink, {}, true);
  CsvContactsReader other(rules, counts, sink, {}, true);
  read(other, "contact, USER\njoe@example.org\n");
  CHECK(left_out(LeftOut::foreign_sender) == 1);
  CHECK(other.has_found());
  read(reader,
       "\"user\",\"contact\"\n\"ann@ours.example\",\"joe@example.org\"\nbob@example.org,joe@example.org\n"
       "ann@ours.example,eve@example.org,x\nann@ours.example,zoe@example.org,\n");
  CHECK(sink.found == Found{"joe@example.org > ann@ours.example", "zoe@example.org > ann@ours.example"});
  CHECK(left_out(LeftOut::foreign_sender) == 2);
  CHECK(left_out(LeftOut::unreadable) == 1);
  // Each row is a message of a log.
  CHECK((sink.last.hash == 1 && sink.last.is_logged && !sink.last.is_named));
}

TEST_CASE_METHOD(Source, "a table that a user may have made is of that user's contacts alone") {
  CsvContactsReader reader(rules, counts, sink, kAnn, false);
  read(reader, "user,contact\nceo@ours.example,evil@example.org\n");
  CHECK(sink.found == Found{"evil@example.org > ann@ours.example"});
}

TEST_CASE_METHOD(Source, "a table of contacts without a known user is refused if pairs are wanted") {
  CsvContactsReader reader(rules, counts, sink, {}, true);
  CHECK_THROWS_AS(read(reader, "Name,E-mail\nJoe,joe@example.org\n"), BloomgateError);
}

TEST_CASE_METHOD(Source, "a sent message counts for all addresses of its folder's owner, and for no other user") {
  const std::vector<std::string> owner = {"ann.smith@ours.example", "asmith@ours.example"};
  MailReader reader(rules, owner, counts, sink, false);
  read(reader, "From: ceo@ours.example\nTo: joe@example.org\n\n");
  CHECK(sink.found == Found{"joe@example.org > ann.smith@ours.example", "joe@example.org > asmith@ours.example"});
  CHECK(counts.messages == 1);
  CHECK(counts.contacts == 1);
}

}  // namespace
}  // namespace bloomgate
