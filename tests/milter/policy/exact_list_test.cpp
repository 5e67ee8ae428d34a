#include "milter/policy/exact_list.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

constexpr AddressProfile kKeepCase{.keep_local_part_case = true};

ExactList list_of(std::string_view text) {
  const ExactListReading reading = read_exact_list(text);
  REQUIRE(reading.bad_line_count == 0);
  return reading.list;
}

Match find(const ExactList& list, std::string_view line, TagSeparators separators = {}) {
  return list.find(canonicalize_line(line, kKeepCase), separators).match;
}

TEST_CASE("an exact list finds addresses, their domains and the trees they are in, the most specific first") {
  const ExactList list = list_of(
      "# revoked in May\n"
      "joe@example.org\n"
      "  <\"odd name\"@example.org>  # quoted\r\n"
      "@corp.example\n"
      "\n"
      "mary@corp.example\n"
      "@.tree.example\n"
      "@leaf.tree.example\n"
      "joe@[192.0.2.1]\n"
      "@[192.0.2.2]\n"
      "j\xc3\xb8rn@m\xc3\xbcller.example");
  struct Row {
    std::string entry;
    Match want;
  };
  const std::vector<Row> rows = {
      {"joe@example.org", Match::address},
      {"jo@example.org", Match::none},
      {"joe@example.or", Match::none},
      {"joe@sub.example.org", Match::none},
      {"\"odd name\"@example.org", Match::address},
      {"mary@corp.example", Match::address},
      {"joe@corp.example", Match::domain},
      {"joe@sub.corp.example", Match::none},
      {"joe@tree.example", Match::domain_tree},
      {"joe@a.b.tree.example", Match::domain_tree},
      {"joe@leaf.tree.example", Match::domain},
      {"joe@nottree.example", Match::none},
      {"joe@example", Match::none},
      {"joe@[192.0.2.1]", Match::address},
      {"mary@[192.0.2.1]", Match::none},
      {"mary@[192.0.2.2]", Match::domain},
      {"j\xc3\xb8rn@xn--mller-kva.example", Match::address},
      {"@corp.example", Match::domain},
      {"@example.org", Match::none},
      {"@.tree.example", Match::domain_tree},
      {"@.sub.tree.example", Match::none},
      {"", Match::none},
      {"no address", Match::none},
  };
  for (const Row& row : rows) {
    CAPTURE(row.entry);
    CHECK(find(list, row.entry) == row.want);
  }
  CHECK(list.find(canonicalize_path("<>")).match == Match::none);
  CHECK(list.size() == 9);
}

TEST_CASE("no other spelling of an address evades its entry in an exact list") {
  const ExactList list = list_of(
      "Joe@Example.org\nSTRA\xc3\x9f"
      "E@example.org\n");
  for (const std::string_view entry : {"joe@example.org", "JOE@EXAMPLE.ORG", "<\"j\\oe\"@example.org.>",
                                       "stra\xc3\x9f"
                                       "e@example.org",
                                       "STRASSE@example.org"}) {
    CAPTURE(entry);
    CHECK(find(list, entry) == Match::address);
    CHECK(list.find(canonicalize_path(entry)).match == Match::address);
  }
}

TEST_CASE("an exact list finds a tagged address with its tag, and with separators also without it") {
  const ExactList list = list_of("joe@example.org\nmary+list@example.org\n@corp.example\n");
  const TagSeparators plus = *TagSeparators::parse("+");
  CHECK(find(list, "joe+x@example.org") == Match::none);
  CHECK(find(list, "Joe+X@example.org", plus) == Match::address);
  CHECK(find(list, "\"joe+x y\"@example.org", plus) == Match::address);
  CHECK(find(list, "joe-x@example.org", plus) == Match::none);
  CHECK(find(list, "mary+list@example.org", plus) == Match::address);
  CHECK(find(list, "mary+other@example.org", plus) == Match::none);
  CHECK(find(list, "mary@example.org", plus) == Match::none);
  CHECK(find(list, "joe+x@corp.example", plus) == Match::domain);
}

TEST_CASE("an empty exact list finds nothing") {
  CHECK(find(ExactList(), "joe@example.org") == Match::none);
  CHECK(find(ExactList(), "@example.org") == Match::none);
  CHECK(find(list_of("# nobody\n\n"), "joe@example.org") == Match::none);
  CHECK(list_of("").size() == 0);
}

TEST_CASE("an invisible character or a wildcard in an exact list is reported, and lists no sender") {
  const ExactListReading reading = read_exact_list(
      "\u200bjoe@example.org\njoe@example.org\u00a0# pasted\n*@corp.example\njoe@example.org > \u2060@ours.example\n");
  CHECK(reading.list.size() == 0);
  REQUIRE(reading.bad_lines.size() == 4);
  CHECK_THAT(reading.bad_lines[0].text, Catch::Contains("U+200B (ZERO WIDTH SPACE)"));
  CHECK_THAT(reading.bad_lines[1].text, Catch::Contains("U+00A0 (NO-BREAK SPACE)"));
  CHECK_THAT(reading.bad_lines[2].text, Catch::Contains("write @corp.example"));
  CHECK_THAT(reading.bad_lines[3].text, Catch::Contains("U+2060 (WORD JOINER)"));
}

TEST_CASE("invalid lines of an exact list are skipped and counted, and the first ones are reported") {
  std::string text = "joe@example.org\nnot an address\n<>\n@.[192.0.2.1]\nmary@example.org\n";
  const ExactListReading reading = read_exact_list(text);
  CHECK(reading.list.size() == 2);
  CHECK(reading.bad_line_count == 3);
  REQUIRE(reading.bad_lines.size() == 3);
  CHECK(reading.bad_lines[0].number == 2);
  CHECK(reading.bad_lines[0].reason == RejectReason::missing_at_sign);
  CHECK(reading.bad_lines[1].number == 3);
  CHECK(reading.bad_lines[1].reason == RejectReason::null_sender_in_list);
  CHECK(reading.bad_lines[2].number == 4);
  CHECK(reading.bad_lines[2].reason == RejectReason::bad_domain_character);
  CHECK(reading.bad_lines[2].text == std::string(reject_reason_text(RejectReason::bad_domain_character)));

  for (int i = 0; i < 1000; ++i) text += "x\n";
  const ExactListReading many = read_exact_list(text);
  CHECK(many.bad_line_count == 1003);
  CHECK(many.bad_lines.size() == ExactListReading::kMostBadLines);
}

TEST_CASE("a list of recipients skips entries that only fit senders, and says what to write") {
  const ExactListReading reading = read_exact_list(
      "joe@example.org > Ann@ours.example\n@.x.example > @ours.example\nlist:news.lists.example\n"
      "list:*.lists.example\n@example.org signed-by example.net\nnonsense\n# a comment\n\n"
      "ann@ours.example\n@quiet.example\n@.tree.example\n",
      ListOf::recipients);
  CHECK(reading.list.size() == 3);
  CHECK_FALSE(reading.list.holds_pairs());
  CHECK_FALSE(reading.list.holds_signers());
  CHECK(reading.bad_line_count == 6);
  CHECK(reading.spoiled_line == 0);
  const char* const wanted[] = {"write the recipient alone: ann@ours.example",
                                "write the recipient alone: @ours.example",
                                "a mailing list is a sender; write a recipient",
                                "a mailing list is a sender; write a recipient",
                                "only a sender is listed with a signer; write a recipient",
                                "there is no '@'"};
  REQUIRE(reading.bad_lines.size() == std::size(wanted));
  for (std::size_t i = 0; i < std::size(wanted); ++i) {
    CHECK(reading.bad_lines[i].number == i + 1);
    CHECK_THAT(reading.bad_lines[i].text, Catch::Contains(wanted[i]));
  }
}

TEST_CASE("a line that cannot be text makes the whole list invalid") {
  struct Row {
    std::string text;
    std::uint64_t spoiled_line;
  };
  const Row rows[] = {
      {"joe@example.org\nno address\n", 0},
      {"no\taddress\n\v\f x\r\n", 0},
      {"Jo\u00ebl Doe\n", 0},
      {std::string("joe@example.org\na\0b\n", 20), 2},
      {"a\x01", 1},
      {"no address\n\x1f\n", 2},
      {"a b \x7f c\n", 1},
      {"two words\xff\n", 1},
      {"a\xffz\nno address\nb\xffz\n", 1},
      {"no address\nb\xffz\nc\x01z\n", 2},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(read_exact_list(row.text).spoiled_line == row.spoiled_line);
  }
}

TEST_CASE("the table of an exact list is at most half full, so that a look-up ends soon") {
  std::string text;
  std::size_t key_bytes = 1;
  for (std::size_t entries = 1; entries <= 100; ++entries) {
    const std::string entry = "user" + std::to_string(entries) + "@example.org";
    text += entry + '\n';
    key_bytes += entry.size() + sizeof(std::uint16_t);
    const ExactList list = list_of(text);
    CAPTURE(entries);
    REQUIRE(list.size() == entries);
    REQUIRE(list.memory_bytes() >= key_bytes + 2 * entries * sizeof(std::uint32_t));
  }
}

TEST_CASE("an exact list names the domain or the tree that lists a sender") {
  const ExactList list = list_of("@corp.example\n@.tree.example\n@.deep.tree.example\njoe@example.org\n");
  const auto named = [&](std::string_view line) {
    const Entry entry = canonicalize_line(line);
    return std::string(list.find(entry).domain_entry().view());
  };
  CHECK(named("a@corp.example") == "@corp.example");
  CHECK(named("a@tree.example") == "@.tree.example");
  CHECK(named("a@b.c.tree.example") == "@.tree.example");
  CHECK(named("a@b.deep.tree.example") == "@.deep.tree.example");
  CHECK(named("@corp.example") == "@corp.example");
  CHECK(named("@.tree.example") == "@.tree.example");
  CHECK(named("joe@example.org").empty());
  CHECK(named("a@example.org").empty());
}

TEST_CASE("an exact list of many entries finds each of them and nothing else") {
  constexpr int kEntries = 100'000;
  std::string text;
  for (int i = 0; i < kEntries; ++i) text += "user" + std::to_string(i) + "@example.org\n";
  const ExactList list = list_of(text + text);
  CHECK(list.size() == kEntries);
  int found = 0;
  int wrong = 0;
  for (int i = 0; i < kEntries; ++i) {
    found += find(list, "user" + std::to_string(i) + "@example.org") == Match::address;
    wrong += find(list, "user" + std::to_string(i) + "@example.net") != Match::none;
  }
  CHECK(found == kEntries);
  CHECK(wrong == 0);
  CHECK(list.memory_bytes() < std::size_t{kEntries} * 40);
}

TEST_CASE("a pair of an exact list is found for its recipient only, the most specific one first") {
  const ExactList list = list_of(
      "Joe@Example.org > ann@ours.example\n"
      "joe@example.org > @ours.example\n"
      "joe@example.org > @.ours.example\n"
      "@corp.example > ann@ours.example\n"
      "@.tree.example > bob+x@ours.example\n"
      "pal+a@example.org > bob@ours.example\n"
      "<#odd@example.org> > bob@ours.example\n"
      "all@example.org\n");
  CHECK(list.size() == 8);
  CHECK(list.holds_pairs());
  struct Row {
    std::string sender, recipient, want;
    bool has_pairs = true;
  };
  const std::vector<Row> rows = {
      {"joe@example.org", "ann@ours.example", "joe@example.org > ann@ours.example"},
      {"JOE@example.org", "ANN@ours.example", "joe@example.org > ann@ours.example"},
      {"joe+tag@example.org", "ann+tag@ours.example", "joe@example.org > ann@ours.example"},
      {"joe@example.org", "bob@ours.example", "joe@example.org > @ours.example"},
      {"joe@example.org", "bob@sub.ours.example", "joe@example.org > @.ours.example"},
      {"joe@example.org", "ann@theirs.example", ""},
      {"x@corp.example", "ann@ours.example", "@corp.example > ann@ours.example"},
      {"x@corp.example", "bob@ours.example", ""},
      {"x@a.b.tree.example", "bob+x@ours.example", "@.tree.example > bob+x@ours.example"},
      {"x@a.b.tree.example", "bob@ours.example", ""},
      {"pal+a@example.org", "bob@ours.example", "pal+a@example.org > bob@ours.example"},
      {"pal@example.org", "bob@ours.example", "", false},
      {"<#odd@example.org>", "bob@ours.example", "#odd@example.org > bob@ours.example"},
      {"all@example.org", "ann@ours.example", "", false},
      {"ann@ours.example", "joe@example.org", "", false},
      {"jo@example.org", "ann@ours.example", "", false},
      {"joe@example.org", "ann", ""},
      {"<>", "ann@ours.example", "", false},
  };
  const TagSeparators plus = *TagSeparators::parse("+");
  for (const Row& row : rows) {
    INFO(row.sender << " to " << row.recipient);
    const Entry sender = canonicalize_path(row.sender, kKeepCase);
    const Entry recipient = canonicalize_path(row.recipient, kKeepCase);
    CHECK(entry_text(list.find_pair(sender, recipient, plus, plus).key.view()) == row.want);
    CHECK(list.has_pairs_of(sender, plus) == row.has_pairs);
  }
  const Entry tagged = canonicalize_path("joe+tag@example.org");
  const Entry ann = canonicalize_path("ann@ours.example");
  CHECK_FALSE(list.find_pair(tagged, ann, {}, plus).is_listed());
  CHECK_FALSE(list.has_pairs_of(tagged, {}));
  CHECK_FALSE(list.find_pair(canonicalize_path("x@corp.example"), canonicalize_path("ann+x@ours.example"), plus, {})
                  .is_listed());
  // Only addresses send and receive.
  const Entry corp = canonicalize_line("@corp.example");
  CHECK_FALSE(list.find_pair(corp, ann, {}, {}).is_listed());
  CHECK_FALSE(list.has_pairs_of(corp, {}));
  const Entry ours = canonicalize_line("@ours.example");
  CHECK_FALSE(list.find_pair(canonicalize_path("joe@example.org"), ours, {}, {}).is_listed());
  CHECK(find(list, "joe@example.org") == Match::none);
  CHECK(find(list, "x@corp.example") == Match::none);
  CHECK(find(list, "x@tree.example") == Match::none);
}

TEST_CASE("an exact list contains the neighbours keys of its entries") {
  const ExactList list = read_exact_list(
                             "joe@example.org\npat@pair.example > ann@ours.example\n@domain.example\n"
                             "@domain-pair.example > ann@ours.example\nlist:news.lists.example\n"
                             "billing@bank.example signed-by esp.example\n")
                             .list;
  for (const std::string_view key : {"@example.org", "@pair.example", "@domain-pair.example\n", "list:*.lists.example",
                                     "@bank.example signed-by esp.example"}) {
    CAPTURE(key);
    CHECK(list.has_neighbours(key));
  }
  for (const std::string_view key : {"", "@", "@org", "@news.example.org", "@ours.example", "@domain.example",
                                     "@domain-pair.example", "@bank.example", "joe@example.org", "list:*.example"}) {
    CAPTURE(key);
    CHECK_FALSE(list.has_neighbours(key));
  }
  CHECK_FALSE(ExactList().has_neighbours("@example.org"));
  CHECK(list.size() == 6);
  CHECK_FALSE(list.find(canonicalize_path("other@example.org")).is_listed());
}

TEST_CASE("the entries that list a sender only with a signer or for a recipient are found for a person") {
  const ExactList list = read_exact_list(
                             "joe@a.example signed-by esp.example\n@a.example signed-by news.example\n"
                             "@.a.example > @ours.example\njoe@a.example > ann@ours.example\n"
                             "list:*.lists.example signed-by esp.example\njoe@b.example\n@c.example\n"
                             "\"x signed-by y\"@a.example\n")
                             .list;
  const auto entries_for = [&](std::string_view sender, TagSeparators separators = {}) {
    return list.conditional_entries(canonicalize_list_line(sender), separators);
  };
  using Entries = std::vector<std::string>;
  CHECK(entries_for("Joe@a.example") == Entries{"@.a.example > @ours.example", "@a.example signed-by news.example",
                                                "joe@a.example > ann@ours.example",
                                                "joe@a.example signed-by esp.example"});
  CHECK(entries_for("joe+x@a.example") == Entries{"@.a.example > @ours.example", "@a.example signed-by news.example"});
  CHECK(entries_for("joe+x@a.example", *TagSeparators::parse("+")).size() == 4);
  CHECK(entries_for("x@b.a.example") == Entries{"@.a.example > @ours.example"});
  CHECK(entries_for("list:news.lists.example") == Entries{"list:*.lists.example signed-by esp.example"});
  for (const std::string_view none : {"joe@b.example", "x@c.example", "a.example", "@a.example"}) {
    CHECK(entries_for(none).empty());
  }
  CHECK(ExactList().conditional_entries(canonicalize_list_line("joe@a.example"), {}).empty());
}

TEST_CASE("a list of pairs alone lists no sender for all recipients") {
  CHECK_FALSE(list_of("joe@example.org\n").holds_pairs());
  CHECK_FALSE(ExactList().has_pairs_of(canonicalize_path("joe@example.org"), {}));
  std::string text;
  for (int number = 0; number < 1000; ++number) {
    text += "s" + std::to_string(number) + "@a.example > r" + std::to_string(number) + "@b.example\n";
  }
  const ExactList list = list_of(text);
  CHECK(list.size() == 1000);
  for (int number = 0; number < 1000; ++number) {
    const Entry sender = canonicalize_path("s" + std::to_string(number) + "@a.example");
    const Entry own = canonicalize_path("r" + std::to_string(number) + "@b.example");
    const Entry next = canonicalize_path("r" + std::to_string(number + 1) + "@b.example");
    CHECK(list.find_pair(sender, own, {}, {}).is_listed());
    CHECK_FALSE(list.find_pair(sender, next, {}, {}).is_listed());
    CHECK_FALSE(list.find(sender).is_listed());
  }
}

}  // namespace
}  // namespace bloomgate
