#include "filter/address/address.hpp"

#include <map>
#include <random>
#include <set>

#include "address_rows.hpp"
#include "address_wording.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::string_literals;
using namespace test;

constexpr AddressProfile kFold{.keep_local_part_case = false};
constexpr AddressProfile kKeep{.keep_local_part_case = true};

// What holds for every entry whatsoever.
void check_views(const Entry& entry) {
  CHECK(entry.is_key() == !entry.key().empty());
  CHECK((entry.kind() == EntryKind::rejected) == (entry.reason() != RejectReason::none));
  CHECK(entry.local_part().empty() == (entry.kind() != EntryKind::address));
  CHECK(entry.domain().empty() == !entry.is_key());
  std::string whole;
  if (entry.kind() == EntryKind::address) whole = std::string(entry.local_part()) + "@";
  if (entry.kind() == EntryKind::domain) whole = "@";
  if (entry.kind() == EntryKind::domain_tree) whole = "@.";
  CHECK(entry.key() == whole + std::string(entry.domain()));
}

// A key given back as a line: in brackets, where it would be a comment.
std::string as_line(const Entry& entry) {
  const std::string key(entry.key());
  return key.starts_with('#') ? "<" + key + ">" : key;
}

TEST_CASE("A path is read as an address, the null sender or a reason") {
  for (const auto* rows : {&common_rows(), &path_rows()}) {
    for (const Row& row : *rows) {
      CAPTURE(row.name, row.input);
      const Entry entry = canonicalize_path(row.input, kFold);
      CHECK(wording(entry) == row.want);
      check_views(entry);
    }
  }
}

TEST_CASE("A line of a list is read as an entry, nothing or a reason") {
  for (const auto* rows : {&common_rows(), &line_rows()}) {
    for (const Row& row : *rows) {
      CAPTURE(row.name, row.input);
      const Entry entry = canonicalize_line(row.input, kFold);
      CHECK(wording(entry) == row.want);
      check_views(entry);
    }
  }
}

TEST_CASE("A profile that keeps the case of local parts changes nothing else") {
  for (const auto* rows : {&common_rows(), &path_rows(), &line_rows()}) {
    for (const Row& row : *rows) {
      CAPTURE(row.name, row.input);
      for (const auto canonicalize : {canonicalize_path, canonicalize_line}) {
        const Entry folded = canonicalize(row.input, kFold);
        const Entry kept = canonicalize(row.input, kKeep);
        CHECK(kept.kind() == folded.kind());
        CHECK(kept.reason() == folded.reason());
        CHECK(kept.domain() == folded.domain());
        check_views(kept);
        if (!kept.is_key()) continue;
        CHECK(wording(canonicalize_line(as_line(kept), kFold)) == folded.key());
      }
    }
  }
}

TEST_CASE("A key is canonical: read again, it is the same key") {
  for (const auto* rows : {&common_rows(), &path_rows(), &line_rows()}) {
    for (const Row& row : *rows) {
      CAPTURE(row.name, row.input);
      for (const AddressProfile profile : {kFold, kKeep}) {
        for (const auto canonicalize : {canonicalize_path, canonicalize_line}) {
          const Entry entry = canonicalize(row.input, profile);
          if (!entry.is_key()) continue;
          CHECK(wording(canonicalize_line(as_line(entry), profile)) == entry.key());
          if (entry.kind() != EntryKind::address) continue;
          CHECK(wording(canonicalize_path(entry.key(), profile)) == entry.key());
          CHECK(wording(canonicalize_path("<" + std::string(entry.key()) + ">", profile)) == entry.key());
        }
      }
    }
  }
}

TEST_CASE("The tables above reach every reason at least twice") {
  std::map<std::string, int> rows_by_want;
  for (const auto* rows : {&common_rows(), &path_rows(), &line_rows()}) {
    for (const Row& row : *rows) ++rows_by_want[row.want];
  }
  // Some reasons need more than a plain row: domain_test.cpp, pair_test.cpp, wildcard_test.cpp and
  // address_allocation_test.cpp have them.
  const std::set<RejectReason> elsewhere = {
      RejectReason::none,         RejectReason::invalid_idn,     RejectReason::wildcard,
      RejectReason::pair,         RejectReason::incomplete_pair, RejectReason::too_many_labels,
      RejectReason::out_of_memory};
  for (std::size_t i = 0; i < kRejectReasonCount; ++i) {
    const auto reason = static_cast<RejectReason>(i);
    CAPTURE(reject_reason_name(reason));
    CHECK((elsewhere.contains(reason) || rows_by_want[rejected(reason)] >= 2));
  }
}

TEST_CASE("Names in the tables are given once") {
  for (const auto* rows : {&common_rows(), &path_rows(), &line_rows()}) {
    std::set<std::string> names;
    for (const Row& row : *rows) {
      CAPTURE(row.name);
      CHECK(names.insert(row.name).second);
    }
  }
}

// A source route is beyond the fast path and changes nothing, so that it shows what the grammar alone makes of the
// rest.
TEST_CASE("What the fast path accepts has the same outcome in the full grammar", "[no threads]") {
  std::mt19937 random(20240229);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same strings in each run
  const std::string_view alphabet = "aZ09.-_@+#\" \\<[";
  std::uniform_int_distribution<std::size_t> letter(0, alphabet.size() - 1);
  std::uniform_int_distribution<std::size_t> length(1, 12);
  int addresses = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text = "a";
    for (std::size_t left = length(random); left > 0; --left) text += alphabet[letter(random)];
    if (text.find('@') == std::string::npos) text.insert(text.size() / 2, "@");
    if (text.starts_with('@')) continue;  // would be a route itself
    INFO(text);
    for (const AddressProfile profile : {kFold, kKeep}) {
      const Entry entry = canonicalize_path("<" + text + ">", profile);
      if (entry.kind() == EntryKind::address) ++addresses;
      REQUIRE(wording(canonicalize_path("<@x:" + text + ">", profile)) == wording(entry));
      REQUIRE(wording(canonicalize_line("<" + text + ">", profile)) == wording(entry));
    }
  }
  CHECK(addresses > 10'000);
}

TEST_CASE("A copy of an entry has the same key, in its own memory") {
  Entry copy;
  {
    const Entry entry = canonicalize_path("<Joe@Example.org>");
    copy = entry;
  }
  CHECK(copy.key() == "joe@example.org");
  CHECK(copy.local_part() == "joe");
  CHECK(copy.domain() == "example.org");
}

}  // namespace
}  // namespace bloomgate
