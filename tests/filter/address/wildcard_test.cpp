// Wildcards of other programs, in lists and elsewhere.
#include <string>
#include <string_view>
#include <vector>

#include "address_wording.hpp"
#include "filter/address/address.hpp"
#include "filter/address/domain.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

struct Row {
  std::string line;
  std::string want;  // what its writer means
};

const std::vector<Row>& rows() {
  static const std::vector<Row> rows = {
      {"*@example.org", "@example.org"},
      {"%@example.org", "@example.org"},
      {"<*@Example.ORG.>", "@example.org"},
      {" %@example.org  # all of them", "@example.org"},
      {"\"*\"@example.org", "@example.org"},
      {"Everybody <*@example.org>", "@example.org"},
      {"*@m\u00fcller.example", "@xn--mller-kva.example"},
      {"*@[192.0.2.1]", "@[192.0.2.1]"},
      {"*@localhost", "@localhost"},
      {"*@*.example.org", "@.example.org"},
      {"%@%.example.org", "@.example.org"},
      {"*@.example.org", "@.example.org"},
      {"@*.example.org", "@.example.org"},
      {"@%.example.org", "@.example.org"},
      {"*.example.org", "@.example.org"},
      {"%.example.org", "@.example.org"},
      {"<*.example.org>", "@.example.org"},
      {"*@example.org and more", "@example.org"},
  };
  return rows;
}

TEST_CASE("A list rejects a wildcard, and the reason says what to write instead") {
  for (const Row& row : rows()) {
    CAPTURE(row.line);
    for (const auto canonicalize : {canonicalize_line, canonicalize_list_line}) {
      const Entry entry = canonicalize(row.line, {});
      CHECK(wording(entry) == "rejected: wildcard");
      CHECK(entry.suggestion() == row.want);
      CHECK(reject_text(entry).ends_with("; write " + row.want));
      CHECK(wording(canonicalize(std::string(entry.suggestion()), {})) == row.want);
    }
  }
}

TEST_CASE("A wildcard is no side of a pair, and has no signer") {
  for (const std::string_view line : {"*@example.org > ann@ours.example", "ann@ours.example > %@example.org",
                                      "*@example.org signed-by esp.example", "*@example.org > *@ours.example"}) {
    CAPTURE(line);
    const Entry entry = canonicalize_list_line(line);
    CHECK(wording(entry) == "rejected: wildcard");
    CHECK(entry.suggestion() == "@example.org");
  }
  CHECK(canonicalize_pair("*@*.example.org", "ann@ours.example").suggestion() == "@.example.org");
  CHECK(canonicalize_pair("joe@example.org", "%@ours.example").suggestion() == "@ours.example");
}

TEST_CASE("A wildcard with a tag is a wildcard if tags are removed") {
  const AddressProfile untagged = {.tag_separators = *TagSeparators::parse("+")};
  CHECK(wording(canonicalize_list_line("*+x@example.org", untagged)) == "rejected: wildcard");
  CHECK(wording(canonicalize_list_line("*+x@example.org")) == "*+x@example.org");
}

TEST_CASE("A message may have such a sender, and other entries may have these signs") {
  CHECK(wording(canonicalize_path("<*@example.org>")) == "*@example.org");
  CHECK(wording(canonicalize_path("%@example.org")) == "%@example.org");
  CHECK(wording(canonicalize_line("**@example.org")) == "**@example.org");
  CHECK(wording(canonicalize_line("*joe@example.org")) == "*joe@example.org");
  CHECK(wording(canonicalize_line("user%example.com@example.org")) == "user%example.com@example.org");
  CHECK(wording(canonicalize_list_line("list:*.example.org")) == "list:*.example.org");
  CHECK(wording(canonicalize_line("*")) == "rejected: missing-at-sign");
  CHECK(wording(canonicalize_line("*@")) == "rejected: empty-domain");
  CHECK(wording(canonicalize_line("*@a/b")) == "rejected: bad-domain-character");
  CHECK(wording(canonicalize_line("*.example.org@example.com")) == "*.example.org@example.com");
}

}  // namespace
}  // namespace bloomgate
