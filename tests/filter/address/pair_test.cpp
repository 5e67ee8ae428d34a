#include "filter/address/pair.hpp"

#include <set>
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

TEST_CASE("a line with a greater-than sign is a pair, and each side has the canonical form of an address") {
  check(GENERATE(values<EntryCase>({
      {"two addresses", "joe@example.org > ann@ours.example", "pair: joe@example.org > ann@ours.example"},
      {"case, dots and a line end", "Joe@EXAMPLE.org. > ANN@Ours.Example.\r\n",
       "pair: joe@example.org > ann@ours.example"},
      {"brackets and names", "\"Joe > x\" <joe@example.org> > Ann <ann@ours.example>",
       "pair: joe@example.org > ann@ours.example"},
      {"more space and a comment", "\t joe@example.org \t> \tann@ours.example # a > b",
       "pair: joe@example.org > ann@ours.example"},
      {"a sign in quotes", "\"a > b\"@example.org > ann@ours.example",
       "pair: \"a > b\"@example.org > ann@ours.example"},
      {"an escaped quote", "\"a\\\" > b\"@example.org > ann@ours.example",
       "pair: \"a\\\" > b\"@example.org > ann@ours.example"},
      {"a domain of senders", "@Example.org > ann@ours.example", "domain pair: @example.org > ann@ours.example"},
      {"a tree of senders", "@.example.org > ann@ours.example", "domain pair: @.example.org > ann@ours.example"},
      {"a domain of recipients", "joe@example.org > @ours.example", "domain pair: joe@example.org > @ours.example"},
      {"a tree of recipients", "joe@example.org > @.ours.example", "domain pair: joe@example.org > @.ours.example"},
      {"two domains", "@.müller.example > @ours.example", "domain pair: @.xn--mller-kva.example > @ours.example"},
      {"literals", "joe@[192.0.2.1] > @[192.0.2.2]", "domain pair: joe@[192.0.2.1] > @[192.0.2.2]"},
      {"16 labels", "@" + repeated("a.", 15) + "org > ann@ours.example",
       "domain pair: @" + repeated("a.", 15) + "org > ann@ours.example"},
      {"17 labels", "@" + repeated("a.", 16) + "org > ann@ours.example", "rejected: too-many-labels"},
      {"17 labels of a recipient's tree", "joe@example.org > @." + repeated("a.", 16) + "org",
       "rejected: too-many-labels"},
      {"17 labels of an address", "joe@" + repeated("a.", 16) + "org > ann@ours.example",
       "pair: joe@" + repeated("a.", 16) + "org > ann@ours.example"},
      {"no recipient", "joe@example.org > # nobody", "rejected: incomplete-pair"},
      {"nothing behind the sign", "joe@example.org >", "rejected: trailing-text"},
      {"no sender", " > ann@ours.example", "rejected: bad-local-part-character"},
      {"no space before the sign", "joe@example.org> ann@ours.example", "rejected: unbalanced-brackets"},
      {"no space behind the sign", "joe@example.org >ann@ours.example", "rejected: trailing-text"},
      {"three sides", "joe@example.org > ann@ours.example > bob@ours.example", "rejected: pair"},
      {"the null sender", "<> > ann@ours.example", "rejected: null-sender-in-list"},
      {"the null sender for a recipient", "joe@example.org > <>", "rejected: null-sender-in-list"},
      {"a bad sender", "joe > ann@ours.example", "rejected: missing-at-sign"},
      {"a bad recipient", "joe@example.org > ann", "rejected: missing-at-sign"},
      {"a line feed inside", "joe@example.org > ann@ours.example\nx", "rejected: control-character"},
      {"a byte-order mark", "\ufeffjoe@example.org > ann@ours.example", "pair: joe@example.org > ann@ours.example"},
      {"a byte-order mark of the recipient", "joe@example.org > \ufeffann@ours.example",
       "rejected: invisible-character"},
      {"a wildcard for the sender", "*@example.org > ann@ours.example", "rejected: wildcard"},
      {"a wildcard for the recipient", "joe@example.org > %@ours.example", "rejected: wildcard"},
      {"two byte-order marks", "\ufeff\ufeffjoe@example.org > ann@ours.example", "rejected: invisible-character"},
      {"two byte-order marks and a comment", "\ufeff\ufeff > # x", "rejected: invisible-character"},
      {"a comment", "# joe@example.org > ann@ours.example", "blank"},
      {"a comment behind an address", "joe@example.org # > ann@ours.example", "address: joe@example.org"},
  })));
}

TEST_CASE("if pairs are not accepted, a pair is rejected as a pair") {
  CHECK(described(canonicalize_line("joe@example.org > ann@ours.example")) == "rejected: pair");
  CHECK(described(canonicalize_line("@example.org > @ours.example")) == "rejected: pair");
  // That is no pair but a name in a wrong form.
  CHECK(described(canonicalize_line("Joe > Jim <joe@example.org>")) == "rejected: display-name");
}

TEST_CASE("a pair of two texts is blank if both are blank, and incomplete if one is") {
  CHECK(described(canonicalize_pair("Joe@example.org", "@ours.example")) ==
        "domain pair: joe@example.org > @ours.example");
  CHECK(described(canonicalize_pair(" ", "# x")) == "blank");
  CHECK(described(canonicalize_pair("", "ann@ours.example")) == "rejected: incomplete-pair");
  CHECK(described(canonicalize_pair("joe@example.org", "")) == "rejected: incomplete-pair");
  CHECK(described(canonicalize_pair("joe@example.org > a@b", "ann@ours.example")) == "rejected: pair");
  CHECK(described(canonicalize_pair("\ufeffjoe@example.org", "ann@ours.example")) == "rejected: invisible-character");
  CHECK(described(canonicalize_pair("joe@example.org", "\ufeffann@ours.example")) == "rejected: invisible-character");
  CHECK(described(canonicalize_pair(std::string(kMaxInputBytes, ' ') + "a@b.org", "ann@ours.example")) ==
        "rejected: too-long");
}

TEST_CASE("the profile holds for both sides of a pair") {
  const AddressProfile tags = {.tag_separators = *TagSeparators::parse("+")};
  CHECK(described(canonicalize_list_line("joe+x@example.org > ann+y@ours.example", tags)) ==
        "pair: joe@example.org > ann@ours.example");
  CHECK(described(canonicalize_list_line("Joe@A.org > Ann@B.org", {.keep_local_part_case = true})) ==
        "pair: Joe@a.org > Ann@b.org");
}

TEST_CASE("the longest pair has its whole key, and its text has the same key") {
  const std::string label(63, 'a');
  const std::string domain = label + "." + label + "." + label + "." + std::string(63, 'b');
  const std::string line = "@." + domain + " > @." + domain;
  const Entry entry = canonicalize_list_line(line, {});
  REQUIRE(entry.kind() == EntryKind::domain_pair);
  CHECK(entry.key() == "@." + domain + "\n@." + domain);
  CHECK(entry_text(entry.key()) == line);
  CHECK(entry.key().size() <= kMaxPairKeyBytes);
  CHECK(entry.domain().empty());
  CHECK(entry.local_part().empty());
}

TEST_CASE("a side is listed by itself, by its domain, and by the trees of this and those above it") {
  using Forms = std::vector<std::string>;
  CHECK(forms_of("joe@a.example.org") ==
        Forms{"joe@a.example.org", "@a.example.org", "@.a.example.org", "@.example.org", "@.org"});
  CHECK(forms_of("\"a@b\"@org") == Forms{"\"a@b\"@org", "@org", "@.org"});
  CHECK(forms_of("joe@[192.0.2.1]") == Forms{"joe@[192.0.2.1]", "@[192.0.2.1]"});
  CHECK(forms_of("@example.org") == Forms{"@example.org", "@.example.org", "@.org"});
  CHECK(forms_of("@.example.org") == Forms{"@.example.org", "@.org"});
  CHECK(forms_of("@[192.0.2.1]") == Forms{"@[192.0.2.1]"});
}

TEST_CASE("a pair takes at most 323 look-ups for a recipient, up to the last 16 labels of its domain") {
  const std::string deep = "joe@" + repeated("a.", 120) + "b.example.org";
  const std::vector<std::string> forms = forms_of(deep);
  CHECK(forms.size() == 1 + kMaxFormLabels);
  CHECK(forms[1] == "@." + repeated("a.", 13) + "b.example.org");
  CHECK(forms.back() == "@.org");
  CHECK(forms_of("joe@" + repeated("a.", 15) + "org").size() == kMostEntryForms);

  const std::string widest = "joe@" + repeated("a.", 15) + "org";
  std::set<std::string> asked;
  const PairKey found = find_wider_pair(widest, widest, [&](std::string_view key) {
    asked.emplace(key);
    return false;
  });
  CHECK(found.view().empty());
  CHECK(asked.size() == kMostEntryForms * kMostEntryForms - 1);
  CHECK_FALSE(asked.contains(widest + "\n" + widest));
}

}  // namespace
}  // namespace bloomgate
