// Characters beyond ASCII that an address may not have, seen through the public functions: at each place of a line and
// of a path.
#include "filter/address/identifier.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "address_wording.hpp"
#include "filter/address/address.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

struct Character {
  std::uint32_t code_point;
  std::string name;
  std::string reason;
};

const std::vector<Character>& unseen() {
  static const std::vector<Character> characters = {
      {0x00ad, "SOFT HYPHEN", "invisible-character"},
      {0x034f, "COMBINING GRAPHEME JOINER", "invisible-character"},
      {0x061c, "ARABIC LETTER MARK", "invisible-character"},
      {0x115f, "HANGUL CHOSEONG FILLER", "invisible-character"},
      {0x17b4, "KHMER VOWEL INHERENT AQ", "invisible-character"},
      {0x180b, "MONGOLIAN FREE VARIATION SELECTOR ONE", "invisible-character"},
      {0x200b, "ZERO WIDTH SPACE", "invisible-character"},
      {0x200e, "LEFT-TO-RIGHT MARK", "invisible-character"},
      {0x200f, "RIGHT-TO-LEFT MARK", "invisible-character"},
      {0x202e, "RIGHT-TO-LEFT OVERRIDE", "invisible-character"},
      {0x2060, "WORD JOINER", "invisible-character"},
      {0x2062, "INVISIBLE TIMES", "invisible-character"},
      {0x2066, "LEFT-TO-RIGHT ISOLATE", "invisible-character"},
      {0x2069, "POP DIRECTIONAL ISOLATE", "invisible-character"},
      {0x3164, "HANGUL FILLER", "invisible-character"},
      {0xfe0f, "VARIATION SELECTOR-16", "invisible-character"},
      {0xffa0, "HALFWIDTH HANGUL FILLER", "invisible-character"},
      {0xe0061, "TAG LATIN SMALL LETTER A", "invisible-character"},
      {0xe0100, "VARIATION SELECTOR-17", "invisible-character"},
      {0x00a0, "NO-BREAK SPACE", "foreign-space"},
      {0x1680, "OGHAM SPACE MARK", "foreign-space"},
      {0x2003, "EM SPACE", "foreign-space"},
      {0x2009, "THIN SPACE", "foreign-space"},
      {0x202f, "NARROW NO-BREAK SPACE", "foreign-space"},
      {0x205f, "MEDIUM MATHEMATICAL SPACE", "foreign-space"},
      {0x3000, "IDEOGRAPHIC SPACE", "foreign-space"},
      {0xfeff, "ZERO WIDTH NO-BREAK SPACE", "invisible-character"},
      {0x2028, "LINE SEPARATOR", "foreign-space"},
  };
  return characters;
}

// In local parts only: in a domain, IDNA judges them.
const std::vector<Character>& unsuitable() {
  static const std::vector<Character> characters = {
      {0x200c, "ZERO WIDTH NON-JOINER", "invisible-character"},
      {0x200d, "ZERO WIDTH JOINER", "invisible-character"},
      {0xff4a, "FULLWIDTH LATIN SMALL LETTER J", "compatibility-character"},
      {0xff20, "FULLWIDTH COMMERCIAL AT", "compatibility-character"},
      {0xff0e, "FULLWIDTH FULL STOP", "compatibility-character"},
      {0xff76, "HALFWIDTH KATAKANA LETTER KA", "compatibility-character"},
      {0x2024, "ONE DOT LEADER", "compatibility-character"},
      {0x00b2, "SUPERSCRIPT TWO", "compatibility-character"},
      {0x00aa, "FEMININE ORDINAL INDICATOR", "compatibility-character"},
      {0xfb03, "LATIN SMALL LIGATURE FFI", "compatibility-character"},
      {0x0149, "LATIN SMALL LETTER N PRECEDED BY APOSTROPHE", "compatibility-character"},
      {0x017f, "LATIN SMALL LETTER LONG S", "compatibility-character"},
      {0x1d41f, "MATHEMATICAL BOLD SMALL F", "compatibility-character"},
      {0x2460, "CIRCLED DIGIT ONE", "compatibility-character"},
      {0xfe8d, "ARABIC LETTER ALEF ISOLATED FORM", "compatibility-character"},
      {0x0378, "", "disallowed-character"},
      {0xe000, "", "disallowed-character"},
      {0xfdd0, "", "disallowed-character"},
      {0x00b7, "MIDDLE DOT", "disallowed-character"},
      {0x0640, "ARABIC TATWEEL", "disallowed-character"},
      {0x2010, "HYPHEN", "disallowed-character"},
      {0x2019, "RIGHT SINGLE QUOTATION MARK", "disallowed-character"},
      {0x20ac, "EURO SIGN", "disallowed-character"},
      {0x2215, "DIVISION SLASH", "disallowed-character"},
      {0x2800, "BRAILLE PATTERN BLANK", "disallowed-character"},
      {0x3002, "IDEOGRAPHIC FULL STOP", "disallowed-character"},
      {0x1100, "HANGUL CHOSEONG KIYEOK", "disallowed-character"},
      {0x2169, "ROMAN NUMERAL TEN", "compatibility-character"},
      {0x20dd, "COMBINING ENCLOSING CIRCLE", "disallowed-character"},
      {0xfff9, "INTERLINEAR ANNOTATION ANCHOR", "disallowed-character"},
      {0x1f642, "SLIGHTLY SMILING FACE", "disallowed-character"},
  };
  return characters;
}

// Each '^' is where the character is.
const std::vector<std::string> kOfLocalPart = {
    "^joe@example.org",   "jo^e@example.org",         "joe^@example.org",     "^@example.org",
    "<^joe@example.org>", "<joe^@example.org>",       "\"^joe\"@example.org", "\"jo e^\"@example.org",
    "joe.^@example.org",  "<@relay:j^e@example.org>", "joe+^x@example.org"};
const std::vector<std::string> kOfDomain = {"joe@^example.org",
                                            "joe@exa^mple.org",
                                            "joe@example.org^",
                                            "joe@example^.org",
                                            "<joe@example.org^>",
                                            "joe@m\u00fcl^ler.example",
                                            "joe@^"};
const std::vector<std::string> kOfPath = {"<joe@example.org>^", "^<joe@example.org>"};
const std::vector<std::string> kOfLine = {
    "^",
    "^ joe@example.org",
    "joe@example.org ^",
    "^# a comment",
    "joe@example.org^# a comment",
    "joe@example.org ^ # a comment",
    "^<joe@example.org>",
    "<joe@example.org>^",
    "Joe <^joe@example.org>",
    "Joe\u00a0Doe <joe@exam^ple.org>",
    "@^example.org",
    "@example.org^",
    "^@example.org",
    "@.example^.org",
    "@.^example.org",
};
const std::vector<std::string> kOfListLine = {
    "list:news^.example.org",
    "^list:news.example.org",
    "list:*.^example.org",
    "^joe@example.org > ann@ours.example",
    "joe@example.org^ > ann@ours.example",
    "joe@example.org^> ann@ours.example",
    "joe@example.org >^ann@ours.example",
    "joe@example.org^>^ann@ours.example",
    "joe@example.org > ^ann@ours.example",
    "joe@example.org > ann@ours.example^",
    "joe@example.org > ann^@ours.example",
    "@example.org > ann@ou^rs.example",
    "joe@example.org^signed-by esp.example",
    "joe@example.org signed-by^esp.example",
    "joe@example.org signed-by esp^.example",
    "joe^@example.org signed-by esp.example",
};

std::string filled(std::string_view place, std::uint32_t code_point) {
  std::string text;
  for (const char byte : place) text += byte == '^' ? utf8(code_point) : std::string(1, byte);
  return text;
}

void check_at(const std::vector<std::string>& places, const Character& character,
              Entry (*canonicalize)(std::string_view, AddressProfile) noexcept) {
  for (const std::string& place : places) {
    // The byte-order mark of a file is none of its first line.
    if (character.code_point == 0xfeff && place.starts_with('^')) continue;
    for (const bool keep : {false, true}) {
      const std::string text = filled(place, character.code_point);
      const Entry entry = canonicalize(text, {.keep_local_part_case = keep});
      CAPTURE(place, character.name, character.code_point, keep);
      CHECK(wording(entry) == "rejected: " + character.reason);
      CHECK(entry.character() == character.code_point);
      CHECK(reject_text(entry).find(": " + identifier::character_text(character.code_point)) != std::string::npos);
    }
  }
}

TEST_CASE("A character that is not seen is refused and named at every place of a path") {
  for (const Character& each : unseen()) {
    for (const auto* places : {&kOfLocalPart, &kOfDomain, &kOfPath}) check_at(*places, each, canonicalize_path);
  }
}

TEST_CASE("A character that is not seen is refused and named at every place of a line, and never trimmed") {
  for (const Character& each : unseen()) {
    for (const auto* places : {&kOfLocalPart, &kOfDomain, &kOfLine}) {
      check_at(*places, each, canonicalize_line);
      check_at(*places, each, canonicalize_list_line);
    }
    check_at(kOfListLine, each, canonicalize_list_line);
  }
}

TEST_CASE("A character that PRECIS does not allow is refused and named wherever it is in a local part") {
  for (const Character& each : unsuitable()) {
    for (const auto canonicalize : {canonicalize_path, canonicalize_line, canonicalize_list_line}) {
      check_at(kOfLocalPart, each, canonicalize);
    }
  }
}

TEST_CASE("Both sides of a pair that is no line name the character") {
  const Entry sender = canonicalize_pair("jo\u200be@example.org", "ann@ours.example");
  const Entry recipient = canonicalize_pair("joe@example.org", "\u00a0ann@ours.example");
  CHECK(wording(sender) == "rejected: invisible-character");
  CHECK(sender.character() == U'\u200b');
  CHECK(wording(recipient) == "rejected: foreign-space");
  CHECK(recipient.character() == U'\u00a0');
}

TEST_CASE("A domain that IDNA does not allow names the character, and its unseen ones") {
  const Entry snowman = canonicalize_line("joe@\u2603.example");
  CHECK(wording(snowman) == "rejected: invalid-idn");
  CHECK(snowman.character() == U'\u2603');
  CHECK(reject_text(snowman) == "the domain is not an internationalised name that IDNA 2008 allows: U+2603 (SNOWMAN)");
  CHECK(canonicalize_line("joe@-m\u00fcller.example").character() == 0);
}

TEST_CASE("An invisible character in a display name changes nothing, unless it changes the direction of the text") {
  struct Row {
    std::string name;
    std::string line;
    std::string want;
  };
  const std::vector<Row> rows = {
      {"a no-break space", "Jean\u00a0Dupont <jean@example.org>", "jean@example.org"},
      {"a no-break space after the name", "Jean\u00a0<jean@example.org>", "jean@example.org"},
      {"a zero-width space", "Jean\u200b <jean@example.org>", "jean@example.org"},
      {"a non-joiner", "\u0646\u0627\u0645\u0647\u200c\u0627\u06cc <ali@example.org>", "ali@example.org"},
      {"an emoji with its selector", "Jean \u2764\ufe0f <jean@example.org>", "jean@example.org"},
      {"a mark of direction", "\u05d3\u05d5\u05d3\u200f <david@example.org>", "david@example.org"},
      {"the other marks of direction", "David\u200e \u061c <david@example.org>", "david@example.org"},
      {"an override", "\u202egro.elpmaxe <joe@example.org>", "rejected: invisible-character"},
      {"an override in quotes", "\"\u202egro.elpmaxe\" <joe@example.org>", "rejected: invisible-character"},
      {"an isolate that is not ended", "Jean \u2067 <jean@example.org>", "rejected: invisible-character"},
      {"a full-width at sign", "boss\uff20partner.example <mallory@evil.example>", "rejected: display-name"},
      {"a small at sign in quotes", "\"boss\ufe6bpartner.example\" <mallory@evil.example>", "rejected: display-name"},
      {"a sound name, and another fault", "Jean\u00a0Dupont <jean@example..org>", "rejected: empty-label"},
      {"a bad name with a sound character", "Dupont, Jean\u00a0 <jean@example.org>", "rejected: display-name"},
      {"a name that has an at sign and is not the address", "jean@\u200bexample.org <jean@example.org>",
       "rejected: invisible-character"},
      {"a comment, and another fault", "jean@example..org # Jean\u00a0Dupont", "rejected: empty-label"},
      {"a comment behind a TAB, and another fault", "jean@example..org\t# Jean\u00a0Dupont", "rejected: empty-label"},
      {"a comment", "jean@example.org # Jean\u00a0Dupont", "jean@example.org"},
      {"a comment after a comment sign", "# \u200bjean@example.org", "blank"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name, row.line);
    CHECK(wording(canonicalize_list_line(row.line)) == row.want);
  }
}

TEST_CASE("The reason says which character it is, and what to do") {
  CHECK(reject_text(canonicalize_list_line("\u200bjoe@partner.example")) ==
        "there is an invisible character, such as a zero-width space, a soft hyphen or a mark of direction: U+200B "
        "(ZERO WIDTH SPACE); type it again instead of copying it");
  CHECK(reject_text(canonicalize_list_line("joe\ue000@partner.example")) ==
        "the part before the '@' has a character beyond ASCII that may not stand there (a symbol, or one without the "
        "letters that it belongs to): "
        "U+E000");
  CHECK(reject_text(canonicalize_list_line("joe")) == std::string(reject_reason_text(RejectReason::missing_at_sign)));
}

TEST_CASE("Names in the scripts of the world are local parts") {
  const std::vector<std::string> names = {
      "\u7528\u6237",                                      // Chinese
      "\u3007\u3007",                                      // the ideographic zero
      "pel\u00e9",                                         // Portuguese
      "stra\u00dfe",                                       // German, with its case kept
      "\u30e6\u30fc\u30b6\u30fc",                          // Japanese, with the mark of long vowels
      "\u4f50\u3005\u6728",                                // Japanese, with the mark of repetition
      "\uc0ac\uc6a9\uc790",                                // Korean
      "\u1112\u1161\u11ab\uae00",                          // Korean, the first syllable in parts
      "\u0928\u093f\u0930\u094d\u092e\u0932",              // Hindi, with a virama
      "\u091c\u0949\u0928",                                // Hindi, with a spacing mark
      "\u0915\u094d\u200d\u0937",                          // Hindi, with a joiner
      "\u0dc1\u0dca\u200d\u0dbb\u0dd3",                    // Sinhala, with a joiner
      "\u0646\u0627\u0645\u0647\u200c\u0627\u06cc",        // Persian, with a non-joiner
      "\u0646\u0647\u0651\u200c\u064e\u0627",              // the same, with marks on both sides of it
      "\u0639\u0644\u06cc\u06f1\u06f2",                    // Persian, with digits
      "\u0663\u0639\u0644\u064a",                          // Arabic, a digit first
      "\u05d3\u05d5\u05d3.cohen",                          // Hebrew and Latin
      "bounce+\u05d3\u05d5\u05d3=example.com",             // an address within another
      "\u0e2a\u0e21\u0e0a\u0e32\u0e22",                    // Thai
      "\u0f56\u0f7c\u0f51\u0f0b\u0f61\u0f72\u0f42",        // Tibetan, with its mark between syllables
      "\u041a\u0432\u0456\u0442\u043e\u0447\u043a\u0430",  // Ukrainian
      "\u1f80\u03c7",                                      // Greek
      "\u12a0\u1260\u1260",                                // Amharic
      "e\u0323\u0302",                                     // Vietnamese, decomposed
      "col\u00b7lecci\u00f3",                              // Catalan, with its middle dot
      "\u0375\u03b2\u03b1",                                // Greek, with the sign of a number
      "\u05d2\u05f3\u05d5\u05df",                          // Hebrew, with geresh
      "\u30c6\u30b9\u30c8\u30fba",                         // Japanese, with a middle dot
      "\U00010428\U00010429",                              // Deseret
  };
  for (const std::string& name : names) {
    CAPTURE(name);
    for (const bool keep : {false, true}) {
      const AddressProfile profile = {.keep_local_part_case = keep};
      const Entry entry = canonicalize_path("<" + name + "@example.org>", profile);
      CHECK(entry.kind() == EntryKind::address);
      CHECK(wording(canonicalize_list_line(entry.key(), profile)) == entry.key());
    }
  }
}

TEST_CASE("A joiner, a mark or another character without the letters that it belongs to is refused") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"joe\u200c", "invisible-character"},
      {"\u0639\u0644\u06cc\u200c", "invisible-character"},  // nothing behind it
      {"\u200c\u0639\u0644\u06cc", "invisible-character"},  // nothing before it
      {"\u0627\u200c\u0639", "invisible-character"},        // behind a letter that joins none
      {"\u0639\u200c\u064e", "invisible-character"},        // nothing but a mark behind it
      {"\u0639\u200c\u200c\u0639", "invisible-character"},  // twice
      {"\u0639\u200c1", "invisible-character"},             // a digit
      {"\u0915\u200d\u0937", "invisible-character"},        // no virama
      {"\u0639\u200d\u0639", "invisible-character"},        // a joiner where a non-joiner may be
      {"\u0308a", "disallowed-character"},                  // first
      {"a.\u0308b", "disallowed-character"},                // behind a dot
      {"\"\\\"\u0308\"", "disallowed-character"},           // behind a quoted quote
      {"a+\u0308", "disallowed-character"},
      {"\"<\u0338\"", "disallowed-character"},  // NFC makes one character of the two
      {"a\u00b7l", "disallowed-character"},
      {"l\u00b7a", "disallowed-character"},
      {"l\u00b7", "disallowed-character"},
      {"\u03b1\u0375", "disallowed-character"},
      {"\u0375a", "disallowed-character"},
      {"\u05f3\u05d5", "disallowed-character"},
      {"a\u05f4", "disallowed-character"},
      {"a\u30fbb", "disallowed-character"},
      {"\u0661\u06f2", "disallowed-character"},  // digits of two kinds
      {"\u06f2x\u0661", "disallowed-character"},
  };
  for (const auto& [local_part, reason] : rows) {
    CAPTURE(local_part);
    for (const auto canonicalize : {canonicalize_path, canonicalize_line}) {
      CHECK(wording(canonicalize(local_part + "@example.org", {})) == "rejected: " + reason);
    }
  }
}

// Most of them, all of which are seen.
bool is_ideograph_or_hangul(std::uint32_t code_point) {
  return (code_point >= 0x3400 && code_point < 0x9fff) || (code_point >= 0xac01 && code_point < 0xd7a4) ||
         (code_point >= 0x20000 && code_point < 0xdf000);
}

// So two texts that look alike for want of such a character never have two keys. The joiners have their contexts.
TEST_CASE("For every character in an address, no key has an invisible character", "[no threads]") {
  const std::vector<std::string> places = {
      "^joe@example.org",          "j^oe@example.org",   "joe^@example.org",          "\"^j oe\"@example.org",
      "joe@^example.org",          "joe@exam^ple.org",   "\u0639^\u0639@example.org", "\u0915\u094d^\u0937@example.org",
      "\u1112^\u1161@example.org", "\u2764^@example.org"};
  constexpr std::uint32_t kStep = test::kIsSanitized ? 7 : 1;
  for (std::uint32_t code_point = 0x80; code_point < 0xe2000; code_point += kStep) {
    if (code_point == 0x200c || code_point == 0x200d || is_ideograph_or_hangul(code_point)) continue;
    if (code_point >= 0xd800 && code_point < 0xe000) continue;
    for (const std::string& place : places) {
      const Entry entry = canonicalize_path(filled(place, code_point));
      if (!entry.is_key()) continue;
      if (wording(canonicalize_path(entry.key())) != entry.key() ||
          identifier::find_unseen(entry.key(), identifier::Joiners::pass).character != 0) {
        FAIL(place << ' ' << code_point);
      }
    }
  }
}

}  // namespace
}  // namespace bloomgate
