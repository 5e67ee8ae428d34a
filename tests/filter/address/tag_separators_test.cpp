#include "filter/address/tag_separators.hpp"

#include "filter/address/address.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TagSeparators separators(std::string_view characters) {
  return TagSeparators::parse(characters).value();
}

TEST_CASE("tag separators are a set of the characters that a local part may hold, less letters, digits and dot") {
  CHECK(TagSeparators().none());
  CHECK(separators("").none());
  CHECK(separators("-+-").text() == "+-");
  CHECK(separators("-+") == separators("+-"));
  CHECK(separators("+") != separators("-"));
  CHECK((separators("+") | separators("=")) == separators("+="));
  CHECK(separators(TagSeparators::kCharacters).bits() == TagSeparators::kAllBits);
  CHECK(TagSeparators::from_bits(0xffffffff).text() == TagSeparators::kCharacters);
  CHECK(TagSeparators::from_bits(0xffffffff) == separators(TagSeparators::kCharacters));
  for (const std::string_view bad : {".", "a", "+Z", "0", " ", "@", "\"", "\\", "+\xc3\xa9", "("}) {
    CAPTURE(bad);
    CHECK_FALSE(TagSeparators::parse(bad));
  }
  CHECK_FALSE(TagSeparators::parse(std::string_view("+\0", 2)));
}

// filter/FORMAT.md, which numbers them.
TEST_CASE("the bits of tag separators are frozen") {
  CHECK(separators("!").bits() == 1U << 0);
  CHECK(separators("+").bits() == 1U << 7);
  CHECK(separators("-").bits() == 1U << 8);
  CHECK(separators("=").bits() == 1U << 10);
  CHECK(separators("~").bits() == 1U << 18);
  CHECK(TagSeparators::from_bits(~std::uint32_t{0}).bits() == (1U << 19) - 1);  // of others nothing is taken
}

TEST_CASE("an address loses its tag if the profile has the tag's separator") {
  struct Row {
    std::string separators;
    std::string input;
    std::string want;
  };
  const std::vector<Row> rows = {
      {"", "joe+x@example.org", "joe+x@example.org"},
      {"+", "joe@example.org", "joe@example.org"},
      {"+", "Joe+X@Example.ORG", "joe@example.org"},
      {"+", "<joe+x@example.org>", "joe@example.org"},
      {"+", "joe+x+y@example.org", "joe@example.org"},
      {"+", "joe+@example.org", "joe@example.org"},
      {"+", "joe-x@example.org", "joe-x@example.org"},
      {"+", "joe@my+host.example", ""},
      {"-", "joe@my-host.example", "joe@my-host.example"},
      {"+-", "joe-x+y@example.org", "joe@example.org"},
      {"-+", "joe+x-y@example.org", "joe@example.org"},
      {"+", "list-bounces+joe=example.org@lists.example", "list-bounces@lists.example"},
      // At the front there is no name that a tag could follow.
      {"+", "+joe@example.org", "+joe@example.org"},
      {"+", "+joe+x@example.org", "+joe@example.org"},
      {"+", "++@example.org", "+@example.org"},
      {"+-", "+-@example.org", "+@example.org"},
      // In quotes the tag is part of the content, and what is left has quotes only if it needs them.
      {"+", R"("joe+x"@example.org)", "joe@example.org"},
      {"+", R"("joe+x y"@example.org)", "joe@example.org"},
      {"+", R"("joe doe+x"@example.org)", R"("joe doe"@example.org)"},
      {"+", R"("joe\+x"@example.org)", "joe@example.org"},
      {"+", R"("a\"b+x"@example.org)", R"("a\"b"@example.org)"},
      {"+", R"("a+\"b"@example.org)", "a@example.org"},
      {"+", "joe.+x@example.org", R"("joe."@example.org)"},
      {"+", "joe+.x@example.org", "joe@example.org"},
      {"+", "joe+..x@example.org", "joe@example.org"},
      {"+", "joe..+x@example.org", R"("joe.."@example.org)"},
      {"+", ".joe+x@example.org", R"(".joe"@example.org)"},
      {"+", "joe+x.y@example.org", "joe@example.org"},
      // Beyond ASCII
      {"+", "PEL\xc3\x89+X@example.org", "pel\xc3\xa9@example.org"},
      {"+", "pele+\xc3\x89@example.org", "pele@example.org"},
      {"`", "joe\xe1\xbf\xafx@example.org", "joe@example.org"},  // U+1FEF is '`' in NFC
      {"=", "joe=\xcc\xb8x@example.org", ""},                    // a struck-out '=' is another character
      // Addresses that are one whole
      {"-", "mailer-daemon@example.org", "mailer-daemon@example.org"},
      {"-", "MAILER-DAEMON@example.org", "mailer-daemon@example.org"},
      {"-", "Double-Bounce@example.org", "double-bounce@example.org"},
      {"-", "mailer-daemons@example.org", "mailer@example.org"},
      {"-", "owner-list@example.org", "owner-list@example.org"},
      {"-", "Owner-a-b@example.org", "owner-a-b@example.org"},
      {"-", "list-request@example.org", "list-request@example.org"},
      {"-", "a-b-REQUEST@example.org", "a-b-request@example.org"},
      {"-", "-request@example.org", "-request@example.org"},
      {"-", "list-requests@example.org", "list@example.org"},
      {"-", "list-owner@example.org", "list@example.org"},
      {"+", "owner-list+x@example.org", "owner-list@example.org"},
      {"+-", "owner-list+x@example.org", "owner-list+x@example.org"},
      {"-", "postmaster@example.org", "postmaster@example.org"},
      // An address with its tag is an address without.
      {"+", std::string(238, 'a') + "+bcd@example.org", std::string(238, 'a') + "@example.org"},
      {"+", std::string(200, 'a') + "+" + std::string(51, 'b') + "@c", std::string(200, 'a') + "@c"},
      {"+", std::string(200, 'a') + "+" + std::string(52, 'b') + "@c", ""},
      {"+", "\"" + std::string(246, 'a') + " +bcd\"@e", ""},
      {"+", std::string(250, 'a') + ".+@e", ""},  // with quotes it is too long
      {"+", "joe+\xff@example.org", ""},
      // Domains have no tags.
      {"+-", "@my-host.example", "@my-host.example"},
      {"+-", "@.my-host.example", "@.my-host.example"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.separators, row.input);
    const AddressProfile profile{.tag_separators = separators(row.separators)};
    const Entry entry = canonicalize_line(row.input, profile);
    CHECK(entry.key() == row.want);
    if (!row.input.starts_with('@')) CHECK(canonicalize_path(row.input, profile).key() == row.want);
    CHECK(canonicalize_line(entry.key(), profile).key() == row.want);
    // What is an address, and of which domain, does not depend on the profile.
    if (entry.is_key()) CHECK(canonicalize_line(row.input).domain() == entry.domain());
  }
}

TEST_CASE("a tag is found whether case is kept or not") {
  const AddressProfile profile{.keep_local_part_case = true, .tag_separators = separators("+-")};
  CHECK(canonicalize_path("<Joe+X@Example.org>", profile).key() == "Joe@example.org");
  CHECK(canonicalize_path("<List-Request@example.org>", profile).key() == "List-Request@example.org");
  for (const std::string whole : {"Owner-List", "OWNER-list", "Mailer-Daemon", "Double-Bounce"}) {
    CHECK(canonicalize_path("<" + whole + "@example.org>", profile).local_part() == whole);
  }
}

}  // namespace
}  // namespace bloomgate
