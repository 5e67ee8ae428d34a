#include "filter/foreign/foreign_list.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/base/error.hpp"
#include "filter/foreign/foreign_lines.hpp"
#include "filter/foreign/written_list.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

ForeignList read(ForeignKind kind, std::string_view text) {
  ForeignList list;
  read_foreign(kind, text, list);
  list.settle();
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

TEST_CASE("a pattern becomes the entry for the same senders, and the width says if it lists more or fewer") {
  struct Row {
    std::string_view pattern;
    std::string_view entry;  // empty: the pattern has no entry
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
                         Row{"@example.org", ""},
                         Row{"a b@example.org", ""},
                         Row{"", ""},
                         Row{"*@exa mple.org", ""},
                         Row{"*@*.", ""},
                         Row{"*@*.*.example.org", ""},
                         Row{"*@*-example.org", ""},
                         Row{"*@org", ""},
                         Row{"*@192.0.2.1", ""}}) {
    CAPTURE(row.pattern);
    const SenderEntry entry = entry_of_glob(row.pattern);
    CHECK(entry.text == row.entry);
    if (!row.entry.empty()) CHECK(entry.width == row.width);
    CHECK(entry.fault.empty() != row.entry.empty());
  }
}

TEST_CASE("the reader accepts the new and the old names of SpamAssassin's lists") {
  constexpr std::string_view kText =
      "# whitelist_from in-a-comment@example.org\n"
      "welcomelist_from joe@example.org *@example.net # and a comment\n"
      "  Whitelist-From\tann@example.org\r\n"
      "def_welcomelist_auth *@*.auth.example\n"
      "whitelist_from_spf *@spf.example\n"
      "welcomelist_from_rcvd *@rcvd.example relay.example\n"
      "welcomelist_from_dkim *@esp.example signer.example\n"
      "whitelist_from_dkim own@dkim.example\n"
      "score RULE 1 # whitelist_from no@example.org\n"
      "header WELCOME From =~ /whitelist_from no@example.org/\n";
  const ForeignList list = read(ForeignKind::spamassassin, kText);
  CHECK(entries(list) == Strings{"joe@example.org", "@example.net", "ann@example.org", "@.auth.example", "@spf.example",
                                 "@esp.example signed-by signer.example", "own@dkim.example"});
  std::vector<bool> unproven;
  for (const Taken& taken : list.taken()) unproven.push_back(taken.was_unproven);
  CHECK(unproven == std::vector<bool>{true, true, true, false, false, false, false});
  CHECK(list.taken()[3].width == Width::with_domain);
  CHECK(list.taken()[3].line == 4);
  CHECK(left_out(ForeignKind::spamassassin, kText) == Strings{"6: welcomelist_from_rcvd *@rcvd.example relay.example"});
}

TEST_CASE("the reader omits senders that SpamAssassin removes or blocks, and entries that would list them too") {
  constexpr std::string_view kText =
      "whitelist_from Joe@example.org *@example.net *@both.example\n"
      "whitelist_auth *@both.example *@*.evil.example *@fine.example\n"
      "unwhitelist_from *@example.net JOE@EXAMPLE.ORG\n"
      "UNWELCOMELIST-FROM *@both.example\n"
      "unwelcomelist_auth ann@example.org\n"
      "blocklist_from eve@mail.evil.example\n"
      "unblocklist_from *@fine.example\n"
      "whitelist_to postmaster@ours.example\n"
      "all_spam_to abuse@ours.example\n"
      "whitelist_from eve*@evil.example\n";
  CHECK(entries(ForeignKind::spamassassin, kText) == Strings{"@both.example", "@fine.example"});
  CHECK(left_out(ForeignKind::spamassassin, kText) ==
        Strings{"5: ann@example.org", "6: eve@mail.evil.example", "8: whitelist_to postmaster@ours.example",
                "9: all_spam_to abuse@ours.example", "10: eve*@evil.example", "2: *@*.evil.example"});
}

TEST_CASE("the reader omits SpamAssassin's conditional lists, unless SpamAssassin's own files use that condition") {
  constexpr std::string_view kText =
      "if (version >= 99.0)\nwhitelist_from a@example.org\nelse\nwhitelist_from b@example.org\nendif\n"
      "ifplugin Mail::SpamAssassin::Plugin::DKIM\n"
      "if can(Mail::SpamAssassin::Conf::feature_welcomelist_blocklist)\nwelcomelist_from_dkim *@c.example\nendif\n"
      "if !can(Mail::SpamAssassin::Conf::feature_welcomelist_blocklist)\nwhitelist_from_dkim "
      "*@d.example\nendif\nendif\n"
      "ifplugin Ours::Plugin\nwhitelist_from e@example.org\nendif\nwhitelist_from f@example.org\ninclude other.cf\n";
  CHECK(entries(ForeignKind::spamassassin, kText) == Strings{"@c.example", "f@example.org"});
  CHECK(left_out(ForeignKind::spamassassin, kText) ==
        Strings{"2: a@example.org", "4: b@example.org", "15: e@example.org", "18: include other.cf"});
  for (const std::string_view condition :
       {"if (version >= 3.004) && (0)", "if !(version >= 3.004)", "if (version >= 4.0)", "if 0",
        "ifplugin Mail::SpamAssassin::Plugin::DKIM\nelse", "ifplugin Mail::SpamAssassin::Plugin::Other",
        "if can(Mail::SpamAssassin::Conf::feature_welcomelist_blocklist)\nelse",
        "if 1 || can(Mail::SpamAssassin::Conf::feature_welcomelist_blocklist)", "if 0\nelse", "lang de"}) {
    CAPTURE(condition);
    const std::string end = condition.starts_with("lang") ? " " : "\n";
    CHECK(entries(ForeignKind::spamassassin, std::string(condition) + end + "welcomelist_auth *@a.example\n").empty());
  }
  CHECK(entries(ForeignKind::spamassassin,
                "if version >= 3.004000\nwelcomelist_auth *@a.example\nendif\nendif\nelse\n") == Strings{"@a.example"});
  CHECK(left_out(ForeignKind::spamassassin,
                 "score USER_IN_WELCOMELIST 0\nscore OTHER 0\nscore USER_IN_WELCOMELIST -0.01\n") ==
        Strings{"1: score USER_IN_WELCOMELIST 0"});
}

TEST_CASE("if one file blocks or removes a sender, no other file of the run lists it") {
  ForeignList list;
  read_foreign(ForeignKind::spamassassin, "welcomelist_auth *@*.a.example *@*.b.example *@c.example\n", list);
  read_foreign(ForeignKind::spamassassin, "blocklist_from eve@a.example\nunwelcomelist_auth *@*.b.example\n", list);
  read_foreign(ForeignKind::postfix, "d.example OK\nc.example REJECT\n", list);
  list.settle();
  CHECK(entries(list) == Strings{"@d.example"});
  CHECK(list.taken()[0].file == 2);
  std::vector<std::size_t> files;
  for (const Omitted& left : list.left_out()) files.push_back(left.file);
  CHECK(files == std::vector<std::size_t>{1, 2, 0, 0});
}

TEST_CASE("a blocked pattern without an entry omits each entry that may list a sender of the pattern") {
  struct Row {
    std::string_view pattern;
    std::string_view entry;
    bool stays;
  };
  for (const Row& row :
       {Row{"eve*@a.example", "@a.example", false}, Row{"eve*@a.example", "@.example", false},
        Row{"eve*@a.example", "eve1@a.example", false}, Row{"eve*@a.example", "@b.a.example", true},
        Row{"eve*@A.EXAMPLE", "@a.example", false}, Row{"*.ru", "@a.ru", false}, Row{"*.ru", "joe@a.ru", false},
        Row{"*.ru", "@a.example", true}, Row{"*@*a.example", "@nota.example", false},
        Row{"*@*a.example", "@a.example", false}, Row{"*@*a.example", "@.example", false},
        Row{"*@*a.example", "@b.example", true}, Row{"eve@*.a.example", "@b.a.example", false},
        Row{"eve*@b\xc3\xbc"
            "cher.example",
            "@xn--bcher-kva.example", false},
        Row{"eve@*", "@a.example", true}}) {
    CAPTURE(row.pattern, row.entry);
    ForeignList list;
    list.begin_file();
    list.take(1, row.entry, entry_of_text(std::string(row.entry)));
    list.block_glob(2, row.pattern, row.pattern, "blocked");
    list.settle();
    CHECK(list.taken().size() == (row.stays ? 1 : 0));
    CHECK(list.left_out()[0].may_block_entries == (row.pattern == "eve@*"));
  }
}

TEST_CASE("a blocked pattern of a domain that is longer than a domain can be omits nothing") {
  for (const std::size_t bytes : {253U, 254U, 100'000U}) {
    ForeignList list;
    list.begin_file();
    list.take(1, "@a.example", entry_of_text("@a.example"));
    list.block_glob(2, "long", "eve*@" + std::string(bytes, 'a'), "blocked");
    list.settle();
    CHECK(list.taken().size() == 1);
  }
}

TEST_CASE("a sender whose name without its tag is blocked is omitted") {
  ForeignList list;
  list.begin_file();
  for (const std::string_view entry : {"joe+news@a.example", "ann+news@a.example", "+joe@a.example"}) {
    list.take(1, entry, entry_of_text(std::string(entry)));
  }
  list.block(2, "joe@a.example", entry_of_text("joe@a.example"), "blocked");
  list.settle();
  CHECK(entries(list) == Strings{"ann+news@a.example", "+joe@a.example"});
}

TEST_CASE("in a map of rspamd, an organisation's domain includes its subdomains, and a subdomain only itself") {
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

TEST_CASE("the reader takes the keys that Postfix accepts, unless they would list a refused sender too") {
  constexpr std::string_view kText =
      "# table\njoe@example.org OK\nexample.net permit\neve@evil.example REJECT\n192.0.2.1 OK\nann@example.org\n"
      "evil.example OK\n.sub.example OK\nbad.sub.example DUNNO\n.wide.example OK\n  continued\n";
  const ForeignList list = read(ForeignKind::postfix, kText);
  CHECK(entries(list) == Strings{"joe@example.org", "@example.net", "@.wide.example"});
  CHECK(list.taken()[2].width == Width::with_domain);
  CHECK(left_out(ForeignKind::postfix, kText) == Strings{"4: eve@evil.example REJECT", "5: 192.0.2.1 OK",
                                                         "6: ann@example.org", "9: bad.sub.example DUNNO",
                                                         "7: evil.example OK", "8: .sub.example OK"});
  CHECK(entries(ForeignKind::postfix,
                "a.example OK\neve@a.example\n# x\n\n  REJECT\nb.example OK\neve@b.example my_class\n"
                "c.example 1\n  23 REJECT\n# x\rd@d.example OK\ne@e.example\n   OK\n") == Strings{"e@e.example"});
}

TEST_CASE("the reader takes addresses, domains and patterns of Exim, with or without values") {
  constexpr std::string_view kText =
      "# list\njoe@example.org\n*@example.net: yes\nexample.com : accept\n  "
      "continued\n*.example.de\n\"ann@example.org\": ok\n"
      "!eve@evil.example\n^.*@example\nlsearch;/etc/x\n+trusted\n@mx_any\n192.0.2.1: "
      "ok\n.dot.example\nmax@example.org: no\n"
      "evil.example\nlocalhost\n";
  CHECK(entries(ForeignKind::exim, kText) ==
        Strings{"joe@example.org", "@example.net", "@.example.de", "ann@example.org"});
  CHECK(left_out(ForeignKind::exim, kText) == Strings{"4: example.com : accept continued", "8: !eve@evil.example",
                                                      "9: ^.*@example", "10: lsearch;/etc/x", "11: +trusted",
                                                      "12: @mx_any", "13: 192.0.2.1: ok", "14: .dot.example",
                                                      "15: max@example.org: no", "17: localhost", "16: evil.example"});
}

TEST_CASE("the reader takes mail addresses from LDIF, also from folded lines and base64") {
  constexpr std::string_view kText =
      "version: 1\n\ndn: cn=Joe,dc=example\nmail: joe@exa\n mple.org\nmail;lang-de:: YW5uQGV4YW1wbGUub3Jn\ncn: "
      "no@example.org\n"
      "proxyAddresses: SMTP:max@example.org\nproxyAddresses: X400:c=de\n# mail: no@example.org\nmail:: !!\nmail: "
      "joe\nmail: @example.org";
  CHECK(entries(ForeignKind::ldif, kText) == Strings{"joe@example.org", "ann@example.org", "max@example.org"});
  CHECK(left_out(ForeignKind::ldif, kText) ==
        Strings{"9: proxyAddresses: X400:c=de", "11: mail:: !!", "12: mail: joe", "13: mail: @example.org"});
}

TEST_CASE("the reader omits addresses that an LDIF change removes") {
  constexpr std::string_view kText =
      "dn: cn=A\nchangetype: modify\ndelete: mail\nmail: a@example.org\n-\nadd: mail\nmail: b@example.org\n-\n\n"
      "dn: cn=C\nchangetype: delete\nmail: c@example.org\n\ndn: cn=D\nmail: d@example.org\nmail: Dora <d@example.org>\n"
      "mail: d@example.org > e@example.org\nmail: f@example.org # x\n";
  CHECK(entries(ForeignKind::ldif, kText) == Strings{"b@example.org", "d@example.org", "Dora <d@example.org>"});
  CHECK(left_out(ForeignKind::ldif, kText) ==
        Strings{"4: a@example.org", "12: c@example.org", "17: d@example.org > e@example.org", "18: f@example.org # x"});
  constexpr std::string_view kLater =
      "dn: cn=A\nmail: a@example.org\nmail: b@example.org\n\ndn: cn=B\nmail: c@example.org\n\ndn: cn=C\nmail: "
      "d@example.org\n\n"
      "dn: CN=a\nchangetype: modify\ndelete: mail\nmail: A@example.org\n-\n\ndn: cn=B\nchangetype: delete\n\n"
      "dn: cn=C\nchangetype: modify\nreplace: mail\nmail: e@example.org\n-\n";
  CHECK(entries(ForeignKind::ldif, kLater) == Strings{"b@example.org", "e@example.org"});
}

TEST_CASE("the list omits each entry that would list a blocked sender") {
  struct Row {
    std::string_view blocked;
    std::string_view entry;
    bool stays;
  };
  for (const Row& row :
       {Row{"eve@evil.example", "eve@evil.example", false}, Row{"Eve@Evil.Example", "@evil.EXAMPLE", false},
        Row{"eve@a.evil.example", "@.evil.example", false}, Row{"eve@evil.example", "@.evil.example", false},
        Row{"eve@evil.example", "joe@evil.example", true}, Row{"eve@a.evil.example", "@evil.example", true},
        Row{"@evil.example", "joe@evil.example", false}, Row{"@.evil.example", "joe@a.evil.example", false},
        Row{"@evil.example", "joe@a.evil.example", true}, Row{"@.evil.example", "@.a.evil.example", false},
        Row{"@a.evil.example", "@.evil.example", false},
        Row{"eve@b\xc3\xbc"
            "cher.example",
            "@xn--bcher-kva.example", false},
        Row{"eve@evil.example", "@notevil.example", true}}) {
    CAPTURE(row.blocked, row.entry);
    ForeignList list;
    list.begin_file();
    list.take(1, row.entry, signed_by(entry_of_text(std::string(row.entry)), ""));
    list.take(2, row.entry, signed_by(entry_of_text(std::string(row.entry)), "esp.example"));
    list.block(3, row.blocked, entry_of_text(std::string(row.blocked)), "blocked");
    list.settle();
    CHECK(list.taken().size() == (row.stays ? 2 : 0));
    CHECK(list.left_out().size() == (row.stays ? 1 : 3));
  }
}

TEST_CASE("the reader takes the senders that a tenant's list allows without an end") {
  constexpr std::string_view kText =
      "#TYPE "
      "Selected\n\"Identity\",\"Value\",\"Action\",\"Notes\"\n\"1\",\"joe@example.org\",\"Allow\",\"two\nlines\"\n"
      "\"2\",\"example.net\",\"Allow\",\"\"\n\"3\",\"*.example.com\",\"allow\",\"\"\n\"4\",\"eve@evil.example\","
      "\"Block\",\"\"\n\"5\",\"x\"\n";
  CHECK(entries(ForeignKind::microsoft, kText) == Strings{"joe@example.org", "@example.net", "@.example.com"});
  CHECK(left_out(ForeignKind::microsoft, kText) == Strings{R"(7: "4","eve@evil.example","Block","")", R"(8: "5","x")"});
  constexpr std::string_view kTyped =
      "Value,Action,ListType,ExpirationDate\njoe@example.org,Allow,Sender,\nold@example.org,Allow,Sender,1/1/2020\n"
      "url.example,Allow,Url,\n192.0.2.1,Allow,IP,\n192.0.2.2,Allow,Sender,\nevil.example,Block,Sender,\n*.evil."
      "example,Allow,Sender,\n";
  CHECK(entries(ForeignKind::microsoft, kTyped) == Strings{"joe@example.org"});
  CHECK(left_out(ForeignKind::microsoft, kTyped).size() == 6);
  CHECK(entries(ForeignKind::microsoft, "Value,Action,RemoveAfter\na@b.example,Allow,45\nc@d.example,Allow,\n") ==
        Strings{"c@d.example"});
  CHECK(entries(ForeignKind::microsoft, "Value,Action\nb.example,Allow\neve*@b.example,Block\n").empty());
  CHECK(left_out(ForeignKind::microsoft, "Sender,Verdict\na,b\n") == Strings{"1: Sender,Verdict"});
}

// With the last line of amavis-lists.
std::string dumped(std::initializer_list<std::string_view> lines) {
  std::string text;
  for (const std::string_view line : lines) text.append("amavis\t").append(line) += '\n';
  return text + "amavis\tend\t" + std::to_string(lines.size()) + '\n';
}

TEST_CASE("the reader takes the senders that amavis whitelists for all recipients or gives negative points") {
  const std::string text = dumped({"white\t.\tjoe@example.org\t1", "white\t.\texample.com\tyes",
                                   "white\t.\t.example.net\t1", "score\t.\tsoft.example\t-1",
                                   "spared\t.\tbank.example\t1", "spared\t.\tann@shop.example/@esp.example\t1"});
  CHECK(entries(ForeignKind::amavis, text) == Strings{"joe@example.org", "@example.com", "@.example.net",
                                                      "@soft.example", "@bank.example",
                                                      "ann@shop.example signed-by esp.example"});
  std::size_t unproven = 0;
  const ForeignList list = read(ForeignKind::amavis, text);
  for (const Taken& taken : list.taken()) unproven += taken.was_unproven ? 1 : 0;
  CHECK(unproven == 4);
}

TEST_CASE("what is omitted has its line and its reason, and is marked if it blocks senders that cannot be known") {
  struct Row {
    ForeignKind kind;
    std::string_view text;
    std::string_view reason;
    bool may_block = false;
  };
  using enum ForeignKind;
  constexpr std::string_view kBlocked = "a blocked sender; the daemon's option 'revoked' is for those";
  constexpr std::string_view kNetwork = "a network address, which says nothing about senders";
  constexpr std::string_view kNever = "amavis never finds a sender by it";
  constexpr std::string_view kNoDot = "a name without a dot, which is no domain of the internet";
  constexpr std::string_view kNoWildcard = "it is no sender's address, and has no '*'";
  constexpr std::string_view kRecipient = "a recipient, who gets all mail unchecked there";
  constexpr std::string_view kWithin = "a wildcard within a domain's name";
  constexpr std::string_view kWorse = "its value makes mail worse, not better";
  for (const Row& row :
       {Row{spamassassin, R"(whitelist_from jo\#e@a.example)", "a '#' within it"},
        Row{spamassassin, R"(whitelist_from jo\e@a.example)", "bad-local-part-character"},
        Row{spamassassin, "more_spam_to joe@a.example", kRecipient},
        Row{spamassassin, "all_spam_to joe@a.example", kRecipient},
        Row{spamassassin, "whitelist_allows_relays *@a.example", "it holds for mail through that relay only"},
        Row{spamassassin, "lang de whitelist_from joe@a.example", "it holds for one language only"},
        Row{spamassassin, "score USER_IN_X 0.0",
            "it turns a list off there; the entries of that list are here all the same"},
        Row{spamassassin, "include x.cf", "another file: import it, too"},
        Row{spamassassin, "if 0\nwhitelist_from joe@a.example", "it stands under a condition"},
        Row{spamassassin, "unwhitelist_from joe@a.example", "it takes back what no line before it lists"},
        Row{spamassassin, "blacklist_from eve@a.example", kBlocked},
        Row{spamassassin, "blocklist_from eve@*", kBlocked, true},
        Row{spamassassin, "whitelist_from_dkim joe@a.example a,b", "its signer is no domain"},
        Row{spamassassin, "whitelist_from *", "it would list every sender"},
        Row{spamassassin, "whitelist_from *@*-a.example", kWithin},
        Row{spamassassin, "whitelist_from *@mail?.a.example", kWithin},
        Row{spamassassin, "whitelist_from a.example", kNoWildcard},
        Row{spamassassin, "whitelist_from @a.example", kNoWildcard},
        Row{spamassassin, "whitelist_from n*@a.example", "a wildcard within the part before the '@'"},
        Row{spamassassin, "whitelist_from *@.a.example", "a dot before a domain's name"},
        Row{spamassassin, "whitelist_from *@org", kNoDot},
        Row{spamassassin, "whitelist_from *@192.0.2.1", kNetwork},
        Row{rspamd, "# x\n/^a/ 1", "a regular expression"},
        Row{rspamd, "/^a/ bl", kWorse, true},
        Row{rspamd, "a.example bl:2", kWorse},
        Row{rspamd, "*.ru 0", kWorse},
        Row{rspamd, "a.example 1x", "its value is not a number for the score"},
        Row{postfix, "192.0.2.1 OK", kNetwork},
        Row{postfix, "192.0.2.1 REJECT", kNetwork},
        Row{postfix, "localhost REJECT", "its value does not accept mail", true},
        Row{postfix, "a.example REJECT", "its value does not accept mail"},
        Row{postfix, "a.example", "it has no value (bloomgate build reads a list of addresses as it is)"},
        Row{postfix, "a.example my_class", "its value says more than that mail is accepted"},
        Row{exim, "^.*@a.example", "a regular expression"},
        Row{exim, "+trusted", "the name of another list"},
        Row{exim, "lsearch;/etc/x", "the name of another list"},
        Row{exim, "@mx_any", "a special item"},
        Row{exim, "!^.*@a.example", "an exception", true},
        Row{exim, "!+trusted", "an exception", true},
        Row{exim, "!lsearch*@;/etc/x", "an exception", true},
        Row{exim, "! @mx_any", "an exception", true},
        Row{exim, "!localhost", "an exception", true},
        Row{exim, "!eve*@a.example", "an exception"},
        Row{exim, "!a.example", "an exception"},
        Row{exim, "joe@a.example: no", "its value does not say that mail is good"},
        Row{ldif, "mail:: !!", "it is not in base64, as it says"},
        Row{ldif, "mail:: YUBiLmV4YW1wbGUKeA==", "a line end within it"},
        Row{ldif, "proxyAddresses: X400:c=de", "no address of mail"},
        Row{ldif, "mail: joe", "missing-at-sign"},
        Row{ldif, "mail: @a.example", "missing-at-sign"},
        Row{ldif, "mail: a@b.example > c@d.example", "it names no sender"},
        Row{ldif, "changetype: delete\nmail: a@b.example", "it takes back what no line before it lists"},
        Row{microsoft, "Value,Verdict", "it names no columns Value and Action"},
        Row{microsoft, "Value,Action\n\"a@b.example,Allow", "its quotes are wrong"},
        Row{microsoft, "Value,Action\n\na@b.example", "it has too few columns"},
        Row{microsoft, "Value,Action,EntryType\na@b.example,Allow,Url", "it is not of a sender"},
        Row{microsoft, "Value,Action,ExpirationDate\na@b.example,Allow,1/1/2020", "it ends at a date"},
        Row{microsoft, "Value,Action,RemoveAfter\na@b.example,Allow,45", "it ends some days after its last use"},
        Row{microsoft, "Value,Action\na.example,Block", "it does not allow its sender"},
        Row{microsoft, "Value,Action\neve@*,Block", "it does not allow its sender", true},
        Row{amavis, "white\t.\t.\t1", "it would list every sender"},
        Row{amavis, "white\t.\t\t1", kNoDot},
        Row{amavis, "white\t.\tjoe@a.example.\t1", kNever},
        Row{amavis, "white\t.\tJoe <joe@a.example>\t1", kNever},
        Row{amavis, "white\t.\t@.a.example\t1", kNever},
        Row{amavis, "black\t.\t@a.example\t1", kNever},
        Row{amavis, "white\t.\tjoe@\t1", "a name without a domain, at every domain"},
        Row{amavis, "black\t.\tjoe@\t1", kBlocked, true},
        Row{amavis, "black\t.\ta.example\t1", kBlocked},
        Row{amavis, "black\t.\ta.example\t0", "an exception from blocked senders"},
        Row{amavis, "white\t.\ta.example\t0", "an exception"},
        Row{amavis, "white\t.\ta.example\t", "an exception"},
        Row{amavis, "white\t.\t.\t0", "an exception", true},
        Row{amavis, "spared\t.\ta.example\t0", "its policy bank does not spare mail the spam check"},
        Row{amavis, "spared\t.\ta.example/@\t1", "a signer without a name"},
        Row{amavis, "score\t.\ta.example\t-3 or so", "its points are not a number", true},
        Row{amavis, "score\t.\ta.example\thigh", "its points are not a number", true},
        Row{amavis, "score\t.\ta.example\t0", "its points make mail worse, not better"},
        Row{amavis, "score\t.\ta.example\t-0.9", "less than one point"},
        Row{amavis, "score\tann@b.example\ta.example\t-3", "for one recipient, or for some"},
        Row{amavis, "white\tsome\ta.example\t1", "for one recipient, or for some"},
        Row{amavis, "unknown-block\t.\ta regular expression\tblack", "senders that are blocked or excepted there",
            true},
        Row{amavis, "other\t\ta regular expression\twhite", "it cannot be known which senders these are"},
        Row{amavis, "white\t.\ta.example", "not a line of amavis-lists"},
        Row{amavis, "white\t.\ta.example\t1\t1", "not a line of amavis-lists"}}) {
    CAPTURE(row.text);
    const ForeignList list = read(row.kind, row.kind == amavis ? dumped({row.text}) : std::string(row.text));
    CHECK(list.taken().empty());
    REQUIRE(list.left_out().size() == 1);
    CHECK(list.left_out()[0].reason == row.reason);
    CHECK(list.left_out()[0].may_block_entries == row.may_block);
    CHECK(list.left_out()[0].line == 1 + static_cast<std::uint64_t>(std::ranges::count(row.text, '\n')));
  }
}

TEST_CASE("an entry that its line does not spell out has the width that the line has there") {
  struct Row {
    ForeignKind kind;
    std::string_view text;
    std::string_view entry;
    Width width = Width::same;
  };
  using enum ForeignKind;
  constexpr std::string_view kJoe = "joe@a.example";
  for (const Row& row :
       {Row{rspamd, "a.example wl", "@.a.example", Width::with_below},
        Row{rspamd, "a.example both:", "@.a.example", Width::with_below},
        Row{rspamd, "mail.a.example 0.1 # x", "@mail.a.example", Width::by_dmarc},
        Row{rspamd, "*.a.example", "@.a.example", Width::with_domain}, Row{rspamd, "*@a.example", "@a.example"},
        Row{postfix, ".a.example OK", "@.a.example", Width::with_domain},
        Row{postfix, "a/b@a.example OK", "a/b@a.example"}, Row{exim, "\xef\xbb\xbfjoe@a.example", kJoe},
        Row{exim, "\"joe@a.example\" accept", kJoe},
        Row{spamassassin, "if (version >= 3.004)\nwhitelist_auth joe@a.example", kJoe},
        Row{spamassassin,
            "if !can(Mail::SpamAssassin::Conf::feature_welcomelist_blocklist)\nelse\nwhitelist_auth joe@a.example",
            kJoe},
        Row{spamassassin, "whitelist_from_dkim\nlang de report x\nscore USER_IN_X\nwhitelist_auth joe@a.example", kJoe},
        Row{microsoft, "Value;Action\n\njoe@a.example;Allow", kJoe},
        Row{microsoft, "Value,Action,RemoveAfter\njoe@a.example,Allow,0", kJoe},
        Row{amavis, "amavis\twhite\t.\tjoe@a.example\t1\n# x\n\namavis\tend\t1", kJoe}}) {
    CAPTURE(row.text);
    const ForeignList list = read(row.kind, row.text);
    CHECK(list.left_out().empty());
    REQUIRE(list.taken().size() == 1);
    CHECK(list.taken()[0].entry == row.entry);
    CHECK(list.taken()[0].width == row.width);
  }
}

TEST_CASE("a sender of amavis that is blocked for anybody is not listed, and one that may be blocked is") {
  for (const std::string_view blocked :
       {"score\tann@ours.example\tjoe@example.org\t5", "score\t.\tjoe@example.org\t0", "spared\t.\tjoe@example.org\t0",
        "white\t.\tjoe@example.org\t0", "black\t.\t.org\t1"}) {
    CAPTURE(blocked);
    CHECK(entries(ForeignKind::amavis, dumped({"white\t.\texample.org\t1", blocked})).empty());
  }
  for (const std::string_view other : {"unknown-block\t.\tx\tblack", "black\t.\texample.org\t0"}) {
    CAPTURE(other);
    CHECK(entries(ForeignKind::amavis, dumped({"white\t.\texample.org\t1", other})) == Strings{"@example.org"});
  }
}

TEST_CASE("the reader refuses lists of amavis that were cut off") {
  const std::string whole = dumped({"white\t.\texample.org\t1", "black\t.\teve@example.org\t1"});
  for (std::size_t bytes = 0; bytes + 1 < whole.size(); ++bytes) {
    CAPTURE(bytes);
    ForeignList list;
    CHECK_THROWS_AS(read_foreign(ForeignKind::amavis, std::string_view(whole).substr(0, bytes), list), BloomgateError);
  }
  ForeignList list;
  CHECK_THROWS_AS(read_foreign(ForeignKind::amavis, "amavis\tend\t0\n" + whole.substr(0, 10), list), BloomgateError);
  CHECK(entries(ForeignKind::amavis, "amavit\twhite\t.\texample.org\t1\namavis\tend\t1\n").empty());
}

TEST_CASE("the first lines show which program a list is from, unless several programs use that format") {
  CHECK(recognise("# x\n\n  def_welcomelist_auth *@example.org\n") == ForeignKind::spamassassin);
  CHECK(recognise("unwhitelist_from a@b.example") == ForeignKind::spamassassin);
  CHECK(recognise("# Value, Action\nwhitelist_from joe@example.org") == ForeignKind::spamassassin);
  CHECK_FALSE(recognise("Values,Actions\n").has_value());
  CHECK(recognise("# x\namavis\twhite\t.\texample.org\t1\n") == ForeignKind::amavis);
  CHECK(recognise("\xef\xbb\xbf"
                  "dn: cn=Joe\n") == ForeignKind::ldif);
  CHECK(recognise("version: 1\n") == ForeignKind::ldif);
  CHECK_FALSE(recognise("Value,Notes\nActions,Action\n").has_value());
  CHECK(recognise("\"Value\",\"Action\"\n") == ForeignKind::microsoft);
  CHECK_FALSE(recognise("example.org\n").has_value());
  CHECK_FALSE(recognise("").has_value());
  for (std::size_t kind = 0; kind < kForeignKinds; ++kind) {
    CHECK(foreign_kind_of(name_of(static_cast<ForeignKind>(kind))) == static_cast<ForeignKind>(kind));
  }
  CHECK_FALSE(foreign_kind_of("sendmail").has_value());
}

// What amavis-lists would count of the text.
std::string ending(std::string_view text) {
  std::size_t lines = 0;
  while (text.find('\n') != text.npos) {
    const std::string_view line = take_foreign_line(text);
    if (!line.empty() && !line.starts_with('#')) ++lines;
  }
  return std::to_string(lines) + '\n';
}

TEST_CASE("from hostile text, each reader makes valid entries only") {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) text += static_cast<char>(byte);
  const std::string begins[] = {"whitelist_from ", "amavis\twhite\t.\t",       "amavis\tspared\t.\texample.org/@",
                                "mail:: ",         "\"Value\",\"Action\"\n\"", "*@*."};
  for (std::size_t kind = 0; kind < kForeignKinds; ++kind) {
    for (const std::string& begin : begins) {
      for (const std::string& end :
           {text, std::string(), std::string(3000, '\''), std::string(3000, '*'), std::string("\\")}) {
        const std::string hostile =
            begin + end + (static_cast<ForeignKind>(kind) == ForeignKind::amavis ? "\namavis\tend\t" : "");
        for (const std::string& entry : entries(static_cast<ForeignKind>(kind), hostile + ending(hostile))) {
          CAPTURE(entry);
          CHECK(canonicalize_list_line(entry).kind() != EntryKind::rejected);
          CHECK(entry.find_first_of("\r\n#") == std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("a list that was edited is not as it was written") {
  const std::string text = with_checksum("# From x\njoe@example.org\n");
  CHECK(is_as_written(text));
  CHECK(is_as_written(with_checksum("")));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string edited = text;
    edited[i] = edited[i] == 'x' ? 'y' : 'x';
    CHECK_FALSE(is_as_written(edited));
  }
  CHECK_FALSE(is_as_written(text + "@mine.example\n"));
  CHECK_FALSE(is_as_written(""));
}

}  // namespace
}  // namespace bloomgate
