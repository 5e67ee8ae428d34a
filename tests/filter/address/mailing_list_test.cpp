// Entries of mailing lists, `list:HOST`, and entries with a signer, `ENTRY signed-by DOMAIN`.
#include <map>
#include <string>
#include <vector>

#include "entry_wording.hpp"
#include "filter/address/address.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/repeated.hpp"

namespace bloomgate {
namespace {

using test::check;
using test::described;
using test::EntryCase;
using test::forms_of;
using test::repeated;

TEST_CASE("a mailing list is an entry by the host that is its List-Id, whatever its case, dots and comments") {
  check(GENERATE(values<EntryCase>({
      {"as it is", "list:announce.lists.example.org", "list: list:announce.lists.example.org"},
      {"case", "LIST:Announce.Lists.Example.ORG", "list: list:announce.lists.example.org"},
      {"a dot at the end", "list:announce.example.org.\r\n", "list: list:announce.example.org"},
      {"space and a comment", " \tlist:announce.example.org\t# a > b signed-by c", "list: list:announce.example.org"},
      {"a byte-order mark", "\ufefflist:announce.example.org", "list: list:announce.example.org"},
      {"an international name", "list:ank\u00fcndigung.M\u00fcller.example",
       "list: list:xn--ankndigung-ceb.xn--mller-kva.example"},
      {"one label", "list:announce", "list: list:announce"},
      {"an underscore and a hyphen", "list:a_b-c.example.org", "list: list:a_b-c.example.org"},
      {"17 labels", "list:" + repeated("a.", 16) + "org", "list: list:" + repeated("a.", 16) + "org"},
      {"all lists below a host", "List:*.Lists.Example.org.", "lists below: list:*.lists.example.org"},
      {"all lists below a host of one label", "list:*.org", "lists below: list:*.org"},
      {"all lists below a host of 16 labels", "list:*." + repeated("a.", 15) + "org",
       "lists below: list:*." + repeated("a.", 15) + "org"},
      {"all lists below a host of 17 labels", "list:*." + repeated("a.", 16) + "org", "rejected: too-many-labels"},
  })));
}

TEST_CASE("text that is not the host of a mailing list is rejected, and is never read as an address") {
  check(GENERATE(values<EntryCase>({
      {"nothing", "list:", "rejected: empty-domain"},
      {"space before the host", "list: announce.example.org", "rejected: empty-domain"},
      {"the address of a list", "list:announce@example.org", "rejected: bad-domain-character"},
      {"the address of a list in brackets", "list:<announce@example.org>", "rejected: bad-domain-character"},
      {"a List-Id in brackets", "list:<announce.example.org>", "rejected: bad-domain-character"},
      {"an address literal", "list:[192.0.2.1]", "rejected: bad-domain-character"},
      {"a domain entry", "list:@example.org", "rejected: bad-domain-character"},
      {"a dot first", "list:.example.org", "rejected: empty-label"},
      {"two dots", "list:announce..example.org", "rejected: empty-label"},
      {"a star alone", "list:*", "rejected: bad-domain-character"},
      {"a star and a dot", "list:*.", "rejected: empty-domain"},
      {"two stars", "list:*.*.example.org", "rejected: bad-domain-character"},
      {"a star in a label", "list:an*.example.org", "rejected: bad-domain-character"},
      {"a star further on", "list:announce.*.example.org", "rejected: bad-domain-character"},
      {"a long label", "list:" + std::string(64, 'a') + ".org", "rejected: label-too-long"},
      {"a long host", "list:" + repeated("a.", 127) + "bb", "rejected: domain-too-long"},
      {"a second word", "list:announce.example.org other", "rejected: trailing-text"},
      {"a control character", "list:announce.example.org\x01", "rejected: control-character"},
      {"another word before the colon", "lists:announce.example.org", "rejected: missing-at-sign"},
      {"a display name", "list:announce <joe@example.org>", "rejected: trailing-text"},
  })));
  // In quotes it is a local part like any other.
  check({"a quoted local part", "\"list:a.example\"@example.org", "address: \"list:a.example\"@example.org"});
}

TEST_CASE("a mailing list is the sender of a pair, and never its recipient") {
  check(GENERATE(values<EntryCase>({
      {"for one recipient", "LIST:a.Example.org > Ann <ann@ours.example>",
       "domain pair: list:a.example.org > ann@ours.example"},
      {"for a domain", "list:a.example.org > @ours.example", "domain pair: list:a.example.org > @ours.example"},
      {"all lists below a host", "list:*.example.org > @.ours.example",
       "domain pair: list:*.example.org > @.ours.example"},
      {"17 labels", "list:" + repeated("a.", 16) + "org > ann@ours.example", "rejected: too-many-labels"},
      {"as the recipient", "joe@example.org > list:a.example.org", "rejected: missing-at-sign"},
      {"as the recipient of a list", "list:a.example.org > list:a.example.org", "rejected: missing-at-sign"},
      {"trees as the recipient", "joe@example.org > list:*.example.org", "rejected: missing-at-sign"},
      {"no recipient", "list:a.example.org > # nobody", "rejected: incomplete-pair"},
  })));
}

TEST_CASE("an entry has a signer, and both are canonical") {
  check(GENERATE(values<EntryCase>({
      {"an address", "billing@bank.example signed-by esp.example",
       "signer: billing@bank.example signed-by esp.example"},
      {"case and dots", "Billing@BANK.example. SIGNED-BY Esp.Example.",
       "signer: billing@bank.example signed-by esp.example"},
      {"tabs, a comment, a line end", "billing@bank.example\t signed-by \tesp.example\t# signed-by other.example\r\n",
       "signer: billing@bank.example signed-by esp.example"},
      {"a name and brackets", "\"Bank, the\" <billing@bank.example> signed-by esp.example",
       "signer: billing@bank.example signed-by esp.example"},
      {"international names", "billing@b\u00fccher.example signed-by m\u00fcller.example",
       "signer: billing@xn--bcher-kva.example signed-by xn--mller-kva.example"},
      {"a domain", "@bank.example signed-by esp.example", "signer: @bank.example signed-by esp.example"},
      {"a tree", "@.bank.example signed-by esp.example", "signer: @.bank.example signed-by esp.example"},
      {"a mailing list", "List:a.Example signed-by Esp.example", "signer: list:a.example signed-by esp.example"},
      {"mailing lists below a host", "list:*.example signed-by esp.example",
       "signer: list:*.example signed-by esp.example"},
      {"an address literal", "joe@[192.0.2.1] signed-by esp.example", "signer: joe@[192.0.2.1] signed-by esp.example"},
      {"a signer of one label", "joe@example.org signed-by esp", "signer: joe@example.org signed-by esp"},
      {"an address of 17 labels", "joe@" + repeated("a.", 16) + "org signed-by esp.example",
       "signer: joe@" + repeated("a.", 16) + "org signed-by esp.example"},
      {"the sign in a quoted local part", "\"a signed-by b\"@example.org signed-by esp.example",
       "signer: \"a signed-by b\"@example.org signed-by esp.example"},
      {"only in a quoted local part", "\"a signed-by b.example\"@example.org",
       "address: \"a signed-by b.example\"@example.org"},
      {"only in a display name", "Joe signed-by me <joe@example.org>", "address: joe@example.org"},
      {"only in a comment", "joe@example.org # signed-by esp.example", "address: joe@example.org"},
      {"a comment", "# joe@example.org signed-by esp.example", "blank"},
      {"a number sign in brackets", "<#joe@example.org> signed-by esp.example",
       "signer: #joe@example.org signed-by esp.example"},
  })));
}

TEST_CASE("an entry whose signer is not the name of one domain is rejected") {
  check(GENERATE(values<EntryCase>({
      {"no signer", "joe@example.org signed-by", "rejected: empty-domain"},
      {"a comment for a signer", "joe@example.org signed-by # esp.example", "rejected: bad-domain-character"},
      {"an address literal", "joe@example.org signed-by [192.0.2.1]", "rejected: bad-domain-character"},
      {"an address", "joe@example.org signed-by news@esp.example", "rejected: bad-domain-character"},
      {"an address in brackets", "joe@example.org signed-by <news@esp.example>", "rejected: bad-domain-character"},
      {"a domain entry", "joe@example.org signed-by @esp.example", "rejected: bad-domain-character"},
      {"a tree", "joe@example.org signed-by .esp.example", "rejected: empty-label"},
      {"a star", "joe@example.org signed-by *.esp.example", "rejected: bad-domain-character"},
      {"a list", "joe@example.org signed-by list:a.example", "rejected: bad-domain-character"},
      {"two signers", "joe@example.org signed-by a.example b.example", "rejected: trailing-text"},
      {"signed twice", "joe@example.org signed-by a.example signed-by b.example", "rejected: trailing-text"},
      {"signers with a comma", "joe@example.org signed-by a.example,b.example", "rejected: bad-domain-character"},
      {"another word", "joe@example.org signed by esp.example", "rejected: trailing-text"},
      {"no space after the word", "joe@example.org signed-by:esp.example", "rejected: trailing-text"},
      {"no space before the word", "<joe@example.org>signed-by esp.example", "rejected: trailing-text"},
      {"no entry", "signed-by esp.example", "rejected: missing-at-sign"},
      {"the null sender", "<> signed-by esp.example", "rejected: null-sender-in-list"},
      {"an invalid entry", "joe@ signed-by esp.example", "rejected: empty-domain"},
      {"an invalid list", "list: signed-by esp.example", "rejected: empty-domain"},
      {"a domain of 17 labels", "@" + repeated("a.", 16) + "org signed-by esp.example", "rejected: too-many-labels"},
      {"a list of 17 labels", "list:" + repeated("a.", 16) + "org signed-by esp.example", "rejected: too-many-labels"},
      {"a long signer", "joe@example.org signed-by " + repeated("a.", 127) + "bb", "rejected: domain-too-long"},
      {"before a pair's sign", "joe@example.org signed-by esp.example > ann@ours.example", "rejected: trailing-text"},
      {"behind a pair", "joe@example.org > ann@ours.example signed-by esp.example", "rejected: trailing-text"},
      {"of a list in a pair", "list:a.example signed-by esp.example > ann@ours.example", "rejected: trailing-text"},
  })));
}

TEST_CASE("a mailing list and a signer are accepted only from a line of a list") {
  CHECK(described(canonicalize_line("list:a.example.org")) == "rejected: missing-at-sign");
  CHECK(described(canonicalize_line("list:*.example.org")) == "rejected: missing-at-sign");
  CHECK(described(canonicalize_line("joe@example.org signed-by esp.example")) == "rejected: trailing-text");
  CHECK(described(canonicalize_line("@example.org signed-by esp.example")) == "rejected: trailing-text");
  CHECK(described(canonicalize_path("list:a.example.org")) == "rejected: missing-at-sign");
  CHECK(described(canonicalize_path("<list:a.example.org>")) == "rejected: missing-at-sign");
  CHECK(described(canonicalize_pair("list:a.example.org", "ann@ours.example")) ==
        "domain pair: list:a.example.org > ann@ours.example");
  CHECK(described(canonicalize_pair("joe@example.org", "list:a.example.org")) == "rejected: missing-at-sign");
  CHECK(described(canonicalize_pair("joe@example.org signed-by a.example", "ann@ours.example")) ==
        "rejected: trailing-text");
}

TEST_CASE("the profile holds for the address before a signer") {
  const AddressProfile tags = {.tag_separators = *TagSeparators::parse("+")};
  CHECK(described(canonicalize_list_line("joe+x@example.org signed-by esp.example", tags)) ==
        "signer: joe@example.org signed-by esp.example");
  CHECK(described(canonicalize_list_line("Joe@A.org signed-by ESP.example", {.keep_local_part_case = true})) ==
        "signer: Joe@a.org signed-by esp.example");
}

TEST_CASE("only an address and a pair of addresses go into the bits") {
  for (const char* line : {"list:a.example", "list:*.example", "list:a.example > ann@ours.example",
                           "joe@example.org signed-by esp.example", "@example.org signed-by esp.example"}) {
    CAPTURE(line);
    const Entry entry = canonicalize_list_line(line, {});
    CHECK(entry.is_key());
    CHECK_FALSE(goes_into_bits(entry.kind()));
    CHECK(entry.local_part().empty());
  }
  CHECK(canonicalize_list_line("list:a.example").domain() == "a.example");
  CHECK(canonicalize_list_line("list:*.a.example").domain() == "a.example");
  CHECK(canonicalize_list_line("joe@example.org signed-by esp.example").domain().empty());
  CHECK_FALSE(canonicalize_list_line("joe@example.org signed-by esp.example").is_pair());
}

TEST_CASE("two different entries never have one key, and a key is a spelling of its own entry") {
  const std::vector<std::string> sides = {"joe@example.org",
                                          "\"a signed-by b\"@example.org",
                                          "\"joe@example.org signed-by b\"@example.org",
                                          "\"list:a.example > b\"@example.org",
                                          "\" signed-by esp.example\"@example.org",
                                          "joe@[192.0.2.1]",
                                          "@example.org",
                                          "@.example.org",
                                          "list:example.org",
                                          "list:*.example.org",
                                          "list:signed-by"};
  std::map<std::string, std::string> line_of_key;
  const auto add = [&](const std::string& line) {
    const Entry entry = canonicalize_list_line(line);
    CAPTURE(line);
    REQUIRE(entry.is_key());
    const std::string key(entry.key());
    CHECK(line_of_key.emplace(key, line).second);
    CHECK(is_pair_key(key) == entry.is_pair());
    CHECK((!is_pair_key(key) && is_signer_key(key)) == (entry.kind() == EntryKind::with_signer));
    const Entry again = canonicalize_list_line(entry_text(key));
    CHECK(again.key() == key);
    CHECK(again.kind() == entry.kind());
  };
  for (const std::string& side : sides) {
    add(side);
    for (const char* signer : {"esp.example", "example.org", "signed-by"}) {
      add(side + " signed-by " + signer);
      const Entry entry = canonicalize_list_line(side + " signed-by " + signer);
      CHECK(sides_of_signer_key(entry.key()).entry == side);
      CHECK(sides_of_signer_key(entry.key()).signer == signer);
    }
    for (const char* recipient : {"ann@ours.example", "\"a signed-by b\"@ours.example", "@.example.org"}) {
      add(side + " > " + recipient);
    }
  }
  CHECK(line_of_key.size() == 7 * sides.size());
}

TEST_CASE("the longest entry with a signer has its whole key") {
  const std::string host = repeated(std::string(63, 'a') + ".", 3) + std::string(63, 'b');
  for (const std::string& entry : {"@." + host, "list:*." + host}) {
    const std::string line = entry + " signed-by " + host;
    CHECK(canonicalize_list_line(line).key() == line);
    CHECK(line.size() <= kMaxSignerKeyBytes);
  }
  CHECK(kMaxEntryKeyBytes >= kMaxSignerKeyBytes);
}

TEST_CASE("a mailing list is listed by itself and by the hosts above it, of which it is not one") {
  using Forms = std::vector<std::string>;
  CHECK(forms_of("list:a.lists.example") == Forms{"list:a.lists.example", "list:*.lists.example", "list:*.example"});
  CHECK(forms_of("list:example") == Forms{"list:example"});
  CHECK(forms_of("list:*.lists.example") == Forms{"list:*.lists.example", "list:*.example"});
  CHECK(forms_of("list:*.example") == Forms{"list:*.example"});
  const std::vector<std::string> deep = forms_of("list:" + repeated("a.", 100) + "lists.example");
  CHECK(deep.size() == 1 + kMaxFormLabels);
  CHECK(deep[1] == "list:*." + repeated("a.", 14) + "lists.example");
  CHECK(deep.back() == "list:*.example");
}

TEST_CASE("with a signer each form of an entry is asked for once, the most specific one first") {
  using Asked = std::vector<std::string>;
  const auto asked_of = [](std::string_view key) {
    Asked asked;
    const SignerKey found = find_with_signer(key, "esp.example", [&](std::string_view each) {
      asked.emplace_back(each);
      return false;
    });
    CHECK(found.view().empty());
    return asked;
  };
  CHECK(asked_of("joe@a.example") == Asked{"joe@a.example signed-by esp.example", "@a.example signed-by esp.example",
                                           "@.a.example signed-by esp.example", "@.example signed-by esp.example"});
  CHECK(asked_of("list:a.example") ==
        Asked{"list:a.example signed-by esp.example", "list:*.example signed-by esp.example"});
  CHECK(asked_of("joe@" + repeated("a.", 100) + "example").size() <= kMostEntryForms);
  const SignerKey found =
      find_with_signer("joe@a.example", "esp.example", [](std::string_view each) { return each.starts_with("@."); });
  CHECK(found.view() == "@.a.example signed-by esp.example");
}

TEST_CASE("a look-up of a mailing list for a recipient asks for each form of the pair, none of them in the bits") {
  std::vector<std::string> asked;
  const PairKey found = find_wider_pair("list:a.example", "ann@ours.example", [&](std::string_view key) {
    asked.push_back(entry_text(key));
    return false;
  });
  CHECK(found.view().empty());
  CHECK(asked == std::vector<std::string>{"list:a.example > ann@ours.example", "list:a.example > @ours.example",
                                          "list:a.example > @.ours.example", "list:a.example > @.example",
                                          "list:*.example > ann@ours.example", "list:*.example > @ours.example",
                                          "list:*.example > @.ours.example", "list:*.example > @.example"});
}

}  // namespace
}  // namespace bloomgate
