// Local parts beyond ASCII, and the case of all, seen through the public functions.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "address_wording.hpp"
#include "filter/address/address.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

constexpr AddressProfile kFold{.keep_local_part_case = false};
constexpr AddressProfile kKeep{.keep_local_part_case = true};

struct Row {
  std::string name;
  std::string local_part;
  std::string folded;  // the canonical local part with case folded, or wording() of what it is rejected with
  std::string kept;    // the same with case kept
};

const std::string kTooLong = "rejected: address-too-long";

const std::vector<Row>& rows() {
  static const std::vector<Row> rows = {
      // ASCII
      {"lower case", "joe", "joe", "joe"},
      {"mixed case", "Joe.DOE+Tag", "joe.doe+tag", "Joe.DOE+Tag"},
      {"what is beside the letters in ASCII has no case", "`{|}~^_", "`{|}~^_", "`{|}~^_"},
      {"mixed case in needless quotes", R"("Joe")", "joe", "Joe"},
      {"mixed case in quotes that are needed", R"("Joe Doe")", R"("joe doe")", R"("Joe Doe")"},
      // One name in its spellings
      {"a letter with its mark", "pelé", "pelé", "pelé"},
      {"in upper case", "PELÉ", "pelé", "PELÉ"},
      {"decomposed", "pele\u0301", "pelé", "pelé"},
      {"decomposed, in upper case", "PELE\u0301", "pelé", "PELÉ"},
      {"in needless quotes", R"("pelé")", "pelé", "pelé"},
      {"in quotes that are needed", R"("pelé x")", R"("pelé x")", R"("pelé x")"},
      {"two marks in one order", "e\u0323\u0302", "ệ", "ệ"},
      {"two marks in the other order", "e\u0302\u0323", "ệ", "ệ"},
      {"an Ångström sign", "\u212b", "å", "Å"},
      {"a Kelvin sign", "\u212a", "k", "K"},
      {"an Ohm sign", "\u2126", "ω", "Ω"},
      {"Hangul in conjoining letters", "\u1112\u1161\u11ab", "\ud55c", "\ud55c"},
      {"Cyrillic", "Коля", "коля", "Коля"},
      {"Ukrainian", "КВІТОЧКА", "квіточка", "КВІТОЧКА"},
      {"Chinese", "用户", "用户", "用户"},
      {"Hindi", "अजय", "अजय", "अजय"},
      {"German", "DÖRTE", "dörte", "DÖRTE"},
      {"beyond the basic plane", "\U00010400", "\U00010428", "\U00010400"},
      // Full case folding
      {"a sharp s is two s", "straße", "strasse", "straße"},
      {"a capital sharp s is two s", "STRAẞE", "strasse", "STRAẞE"},
      {"two s", "STRASSE", "strasse", "STRASSE"},
      {"a final sigma is a sigma", "Χρήστης", "χρήστησ", "Χρήστης"},
      {"a dotted capital I is i and a dot above", "\u0130", "i\u0307", "\u0130"},
      {"a dotless i is a letter of its own", "ı", "ı", "ı"},
      {"a capital I is an i, in Turkish too", "I", "i", "I"},
      {"an iota below is an iota", "\u1fb3", "\u03b1\u03b9", "\u1fb3"},
      {"an iota below and a mark in one order", "\u03b1\u0345\u0301", "\u03ac\u03b9", "\u1fb4"},
      {"an iota below and a mark in the other order", "\u03b1\u0301\u0345", "\u03ac\u03b9", "\u1fb4"},
      {"Cherokee folds to capitals", "\uab70", "\u13a0", "\uab70"},
      // What normalisation makes of some characters decides about quotes
      {"the Greek question mark is a semicolon", "\u037e", R"(";")", R"(";")"},
      {"the Greek question mark in quotes", "\"\u037e\"", R"(";")", R"(";")"},
      {"the varia is a grave accent", "\u1fef", "`", "`"},
      // Dots anywhere, without the quotes that they need
      {"two dots", "J..Doe", R"("j..doe")", R"("J..Doe")"},
      {"two dots in quotes", R"("J..Doe")", R"("j..doe")", R"("J..Doe")"},
      {"a dot last", "Docomo.", R"("docomo.")", R"("Docomo.")"},
      {"a dot first, beyond ASCII", ".JÖRG", R"(".jörg")", R"(".JÖRG")"},
      // Limits hold for the canonical form, with its domain of 11 octets
      {"242 octets of two each", repeated("é", 121), repeated("é", 121), repeated("é", 121)},
      {"244 octets of two each", repeated("é", 122), kTooLong, kTooLong},
      {"242 octets, decomposed", repeated("e\u0301", 121), repeated("é", 121), repeated("é", 121)},
      {"240 octets of four each", repeated("\U00010428", 60), repeated("\U00010428", 60), repeated("\U00010428", 60)},
      {"244 octets of four each", repeated("\U00010428", 61), kTooLong, kTooLong},
      {"164 octets that fold to 246", repeated("\u023a", 82), kTooLong, repeated("\u023a", 82)},
      {"720 octets that fold to 242", repeated("\u212a", 239) + "abc", repeated("k", 239) + "abc",
       repeated("K", 239) + "abc"},
      {"242 octets with quotes", "\" " + repeated("é", 119) + "a\"", "\" " + repeated("é", 119) + "a\"",
       "\" " + repeated("é", 119) + "a\""},
      {"243 octets with quotes", "\" " + repeated("é", 120) + "\"", kTooLong, kTooLong},
      {"as many marks as a path may have", "a" + repeated("\u0301\u0323", 500), kTooLong, kTooLong},
  };
  return rows;
}

std::string address_of(const std::string& local_part) {
  return local_part.starts_with("rejected") ? local_part : local_part + "@example.org";
}

TEST_CASE("A local part has one canonical form, with case folded or kept") {
  for (const Row& row : rows()) {
    CAPTURE(row.name, row.local_part);
    for (const std::string& text : {row.local_part + "@example.org", "<" + row.local_part + "@example.org>"}) {
      for (const auto canonicalize : {canonicalize_path, canonicalize_line}) {
        CHECK(wording(canonicalize(text, kFold)) == address_of(row.folded));
        CHECK(wording(canonicalize(text, kKeep)) == address_of(row.kept));
      }
    }
  }
}

TEST_CASE("A canonical local part, read again, is the same local part") {
  for (const Row& row : rows()) {
    CAPTURE(row.name, row.local_part);
    for (const AddressProfile profile : {kFold, kKeep}) {
      const Entry entry = canonicalize_path(row.local_part + "@example.org", profile);
      if (!entry.is_key()) continue;
      CHECK(wording(canonicalize_path(entry.key(), profile)) == entry.key());
      CHECK(wording(canonicalize_line(entry.key(), profile)) == entry.key());
    }
  }
}

TEST_CASE("A local part with its case kept folds to the same text as the original") {
  for (const Row& row : rows()) {
    CAPTURE(row.name, row.local_part);
    const Entry kept = canonicalize_path(row.local_part + "@example.org", kKeep);
    if (!kept.is_key()) continue;
    CHECK(wording(canonicalize_path(kept.key(), kFold)) == address_of(row.folded));
  }
}

// The content of each spelling, as a reader that knows nothing of keys finds it.
TEST_CASE("Two local parts never have one key, and all spellings of one have the same") {
  std::map<std::string, std::string> content_of_key;
  const std::string_view alphabet = "a.\"\\ +";
  std::vector<std::string> contents = {""};
  for (std::size_t i = 0; i < contents.size() && contents[i].size() < 4; ++i) {
    for (const char letter : alphabet) contents.push_back(contents[i] + letter);
  }
  for (const std::string& content : contents) {
    std::string escaped;
    std::string all_escaped;
    for (const char byte : content) {
      escaped += byte == '"' || byte == '\\' ? "\\" + std::string(1, byte) : std::string(1, byte);
      all_escaped += "\\" + std::string(1, byte);
    }
    const std::string key = wording(canonicalize_path("\"" + escaped + "\"@b"));
    CAPTURE(content);
    CHECK(content_of_key.emplace(key, content).second);
    CHECK(wording(canonicalize_path("\"" + all_escaped + "\"@b")) == key);
    const bool plain = !content.empty() && content.find_first_not_of("a.+") == std::string::npos;
    if (content.starts_with('"')) continue;
    const Entry bare = canonicalize_path("<" + content + "@b>");
    CHECK(bare.is_key() == plain);
    if (plain) CHECK(wording(bare) == key);
  }
  CHECK(contents.size() == 1555);
}

// Folding works character by character and normalisation only orders and joins the result, so that what holds for every
// code point holds for every text.
TEST_CASE("Folding any code point of Unicode a second time changes nothing", "[no threads]") {
  for (std::uint32_t code_point = 0x80; code_point < 0x110000; ++code_point) {
    if (code_point == 0x3400) code_point = 0x4dbf;    // ideographs, which are all alike
    if (code_point == 0x4e00) code_point = 0x9fff;    // the same
    if (code_point == 0xac00) code_point = 0xd7a3;    // Hangul, the same
    if (code_point == 0xd800) code_point = 0xe000;    // surrogates, which are no characters
    if (code_point == 0x20000) code_point = 0x2f800;  // more ideographs
    if (code_point == 0x30000) code_point = 0xe0000;
    if (code_point == 0xe1000) break;  // private use
    for (const AddressProfile profile : {kFold, kKeep}) {
      const Entry entry = canonicalize_path("a" + utf8(code_point) + "b@x", profile);
      if (!entry.is_key()) continue;
      INFO(code_point);
      REQUIRE(wording(canonicalize_path(entry.key(), profile)) == entry.key());
    }
  }
}

}  // namespace
}  // namespace bloomgate
