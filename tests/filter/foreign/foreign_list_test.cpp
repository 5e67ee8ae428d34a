#include "filter/foreign/foreign_list.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

ForeignList read(ForeignKind kind, std::string_view text) {
  ForeignList list;
  read_foreign(kind, text, list);
  return list;
}

std::vector<std::string> entries(const ForeignList& list) {
  std::vector<std::string> found;
  for (const Taken& taken : list.taken()) found.push_back(taken.entry);
  return found;
}

std::vector<std::string> entries(ForeignKind kind, std::string_view text) {
  return entries(read(kind, text));
}

// Line and item.
std::vector<std::string> left_out(ForeignKind kind, std::string_view text) {
  std::vector<std::string> found;
  const ForeignList list = read(kind, text);
  for (const Omitted& left : list.left_out()) {
    CHECK_FALSE(left.reason.empty());
    found.push_back(std::to_string(left.line) + ": " + left.item);
  }
  return found;
}

using Strings = std::vector<std::string>;

TEST_CASE("a pattern is an entry that lists what it matches, and says where that is more or less") {
  struct Row {
    std::string_view pattern;
    std::string_view entry;  // empty: there is none
    Width width = Width::same;
  };
  for (const Row& row : {Row{"joe@example.org", "joe@example.org"},
                         Row{"*@example.org", "@example.org"},
                         Row{"*@*.example.org", "@.example.org", Width::with_domain},
                         Row{"*.example.org", "@.example.org", Width::with_domain},
                         Row{"*@*example.org", "@.example.org", Width::narrower},
                         Row{"*example.org", "@.example.org", Width::narrower},
                         Row{"*", ""},
                         Row{"*@*", ""},
                         Row{"*@", ""},
                         Row{"?@example.org", ""},
                         Row{"news*@example.org", ""},
                         Row{"*=news@example.org", ""},
                         Row{"*@mail?.example.org", ""},
                         Row{"*@mail.*.org", ""},
                         Row{"*@example.*", ""},
                         Row{"example.org", ""},
                         Row{"@example.org", "@example.org"},
                         Row{"a b@example.org", ""},
                         Row{"", ""},
                         Row{"*@exa mple.org", ""},
                         Row{"*@*.", ""},
                         Row{"*@*.*.example.org", ""}}) {
    CAPTURE(row.pattern);
    const SenderEntry entry = entry_of_glob(row.pattern);
    CHECK(entry.text == row.entry);
    if (!row.entry.empty()) CHECK(entry.width == row.width);
    CHECK(entry.fault.empty() != row.entry.empty());
  }
}

TEST_CASE("the lists of SpamAssassin are read under their new and their old names") {
  constexpr std::string_view kText =
      "# whitelist_from in-a-comment@example.org\n"
      "welcomelist_from joe@example.org *@example.net # and a comment\n"
      "  whitelist_from\tann@example.org\r\n"
      "def_welcomelist_auth *@*.auth.example\n"
      "whitelist_from_spf *@spf.example\n"
      "welcomelist_from_rcvd *@rcvd.example relay.example\n"
      "welcomelist_from_dkim *@esp.example signer.example\n"
      "whitelist_from_dkim own@dkim.example\n"
      "score RULE 1 # whitelist_from no@example.org\n"
      "header WELCOME From =~ /whitelist_from no@example.org/\n";
  const ForeignList list = read(ForeignKind::spamassassin, kText);
  CHECK(entries(list) == Strings{"joe@example.org", "@example.net", "ann@example.org", "@.auth.example", "@spf.example",
                                 "@rcvd.example", "@esp.example signed-by signer.example", "own@dkim.example"});
  std::vector<bool> unproven;
  for (const Taken& taken : list.taken()) unproven.push_back(taken.was_unproven);
  CHECK(unproven == std::vector<bool>{true, true, true, false, false, true, false, false});
  CHECK(list.taken()[3].width == Width::with_domain);
  CHECK(list.taken()[3].line == 4);
  CHECK(list.left_out().empty());
}

TEST_CASE("what SpamAssassin takes back is not taken over, and what it blocks never is") {
  constexpr std::string_view kText =
      "whitelist_from joe@example.org *@example.net\n"
      "unwhitelist_from *@example.net\n"
      "unwelcomelist_auth ann@example.org\n"
      "blocklist_from eve@evil.example\n"
      "blacklist_from *@evil.example\n"
      "whitelist_to postmaster@ours.example\n"
      "all_spam_to abuse@ours.example\n"
      "whitelist_from eve*@evil.example\n";
  CHECK(entries(ForeignKind::spamassassin, kText) == Strings{"joe@example.org"});
  CHECK(left_out(ForeignKind::spamassassin, kText) ==
        Strings{"3: ann@example.org", "4: blocklist_from eve@evil.example", "5: blacklist_from *@evil.example",
                "6: whitelist_to postmaster@ours.example", "7: all_spam_to abuse@ours.example",
                "8: eve*@evil.example"});
}

TEST_CASE("a domain in a map of rspamd is all of an organisation, and a part of one is that part alone") {
  constexpr std::string_view kText =
      "# domains\n\nexample.org\nexample.co.uk 2.0\nmail.example.org\nboth.example.org both:1.5\njoe@example.org "
      "wl:3\nCo.UK\n"
      "evil.example bl:5\nworse.example -1\nzero.example 0\nodd.example high\n192.0.2.0/24\n192.0.2.1\n/^news@/i\n";
  CHECK(entries(ForeignKind::rspamd, kText) == Strings{"@.example.org", "@.example.co.uk", "@mail.example.org",
                                                       "@both.example.org", "joe@example.org", "@Co.UK"});
  CHECK(left_out(ForeignKind::rspamd, kText) == Strings{"9: evil.example bl:5", "10: worse.example -1",
                                                        "11: zero.example 0", "12: odd.example high",
                                                        "13: 192.0.2.0/24", "14: 192.0.2.1", "15: /^news@/i"});
}

TEST_CASE("of an access table of Postfix the keys are taken whose mail is accepted") {
  constexpr std::string_view kText =
      "# table\njoe@example.org OK\nexample.net permit\neve@evil.example REJECT\n192.0.2.1 OK\nann@example.org\n";
  CHECK(entries(ForeignKind::postfix, kText) == Strings{"joe@example.org", "@example.net"});
  CHECK(left_out(ForeignKind::postfix, kText) == Strings{"5: 192.0.2.1 OK", "6: ann@example.org"});
}

TEST_CASE("the maps of amavis are read out of its Perl, and a score for one recipient stays with that recipient") {
  constexpr std::string_view kText =
      "use strict;\n"
      "@mynetworks = qw( 127.0.0.0/8 );\n"
      "# @whitelist_sender_maps = ( ['no@example.org'] );\n"
      "@whitelist_sender_maps = ( [ 'joe@example.org', '.example.net', qw( one.example\n"
      "  two.example ) ], read_hash(\"$MYHOME/whitelist\") );\n"
      "@virus_admin = ('postmaster@ours.example');\n"
      "@score_sender_maps = ({\n"
      "  '.' => [\n"
      "    new_RE( [qr'^news@'i => -5.0], ),\n"
      "    { \"good\\@example.org\" => -3.0, 'bad@example.org' => 3.5, '.good.example' => -1 },\n"
      "  ],\n"
      "  'ann@ours.example' => [{ 'friend@example.org' => -10 }],\n"
      "  '.part.example' => [{ 'list@example.org' => -10.0 }],\n"
      "});\n"
      "@author_to_policy_bank_maps = ( { 'bank.example' => 'WHITELIST,NOBANNED', 'odd.example' => 'MILD' } );\n";
  CHECK(entries(ForeignKind::amavis, kText) == Strings{"joe@example.org", "@.example.net", "@one.example",
                                                       "@two.example", "good@example.org", "@.good.example",
                                                       "friend@example.org > ann@ours.example",
                                                       "list@example.org > @.part.example", "@bank.example"});
  const Strings left = left_out(ForeignKind::amavis, kText);
  REQUIRE(left.size() == 4);
  CHECK(left[0].starts_with("5: read_hash("));
  CHECK(left[1].starts_with("9: qr'^news@'"));
  CHECK(left[2] == "10: bad@example.org");
  CHECK(left[3] == "15: odd.example");
}

TEST_CASE("a file for Exim has addresses, domains and patterns, with or without values") {
  constexpr std::string_view kText =
      "# list\njoe@example.org\n*@example.net: yes\nexample.com : accept\n  "
      "continued\n*.example.de\n\"ann@example.org\": x\n"
      "!eve@example.net\n^.*@example\nlsearch;/etc/x\n+trusted\n";
  CHECK(entries(ForeignKind::exim, kText) ==
        Strings{"joe@example.org", "@example.net", "@example.com", "@.example.de", "ann@example.org"});
  CHECK(left_out(ForeignKind::exim, kText) ==
        Strings{"8: !eve@example.net", "9: ^.*@example", "10: lsearch;/etc/x", "11: +trusted"});
}

TEST_CASE("the addresses of a directory are read out of LDIF, folded and in base64") {
  constexpr std::string_view kText =
      "version: 1\n\ndn: cn=Joe,dc=example\nmail: joe@exa\n mple.org\nmail;lang-de:: YW5uQGV4YW1wbGUub3Jn\ncn: "
      "no@example.org\n"
      "proxyAddresses: SMTP:max@example.org\nproxyAddresses: X400:c=de\n# mail: no@example.org\nmail:: !!\nmail: "
      "joe\nmail: @example.org";
  CHECK(entries(ForeignKind::ldif, kText) == Strings{"joe@example.org", "ann@example.org", "max@example.org"});
  CHECK(left_out(ForeignKind::ldif, kText) ==
        Strings{"9: proxyAddresses: X400:c=de", "11: mail:: !!", "12: mail: joe", "13: mail: @example.org"});
}

TEST_CASE("the allow list of a tenant gives what it allows") {
  constexpr std::string_view kText =
      "#TYPE "
      "Selected\n\"Identity\",\"Value\",\"Action\",\"Notes\"\n\"1\",\"joe@example.org\",\"Allow\",\"two\nlines\"\n"
      "\"2\",\"example.net\",\"Allow\",\"\"\n\"3\",\"*.example.com\",\"allow\",\"\"\n\"4\",\"eve@evil.example\","
      "\"Block\",\"\"\n\"5\",\"x\"\n";
  CHECK(entries(ForeignKind::microsoft, kText) == Strings{"joe@example.org", "@example.net", "@.example.com"});
  CHECK(left_out(ForeignKind::microsoft, kText) == Strings{R"(7: "4","eve@evil.example","Block","")", R"(8: "5","x")"});
  CHECK(left_out(ForeignKind::microsoft, "Sender,Verdict\na,b\n") == Strings{"1: Sender,Verdict"});
}

TEST_CASE("a list shows whose it is, unless several programs have such lists") {
  CHECK(recognise("# x\n\n  def_welcomelist_auth *@example.org\n") == ForeignKind::spamassassin);
  CHECK(recognise("unwhitelist_from a@b.example") == ForeignKind::spamassassin);
  CHECK(recognise("use strict;\n@score_sender_maps = (") == ForeignKind::amavis);
  CHECK(recognise("dn: cn=Joe\n") == ForeignKind::ldif);
  CHECK(recognise("\"Value\",\"Action\"\n") == ForeignKind::microsoft);
  CHECK_FALSE(recognise("example.org\n").has_value());
  CHECK_FALSE(recognise("").has_value());
  for (std::size_t kind = 0; kind < kForeignKinds; ++kind) {
    CHECK(foreign_kind_of(name_of(static_cast<ForeignKind>(kind))) == static_cast<ForeignKind>(kind));
  }
  CHECK_FALSE(foreign_kind_of("sendmail").has_value());
}

TEST_CASE("hostile text of any kind is read without an entry that is none") {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) text += static_cast<char>(byte);
  const std::string begins[] = {"whitelist_from ",
                                "@score_sender_maps = ({ '",
                                "@whitelist_sender_maps = ( qw",
                                "mail:: ",
                                "\"Value\",\"Action\"\n\"",
                                "*@*.",
                                "@whitelist_sender_maps = (['a' =>"};
  for (std::size_t kind = 0; kind < kForeignKinds; ++kind) {
    for (const std::string& begin : begins) {
      for (const std::string& end :
           {text, std::string(), std::string(3000, '\''), std::string(3000, '*'), std::string("\\")}) {
        for (const std::string& entry : entries(static_cast<ForeignKind>(kind), begin + end)) {
          CAPTURE(entry);
          CHECK(entry_of_text(entry).text == entry);
        }
      }
    }
  }
}

}  // namespace
}  // namespace bloomgate
