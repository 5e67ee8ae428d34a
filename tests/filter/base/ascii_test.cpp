#include "filter/base/ascii.hpp"

#include <cctype>

#include "tests/support/catch.hpp"

using namespace bloomgate;

TEST_CASE("every byte is in the classes of the C locale, and none beyond ASCII is in any") {
  for (int value = 0; value < 256; ++value) {
    CAPTURE(value);
    const char byte = static_cast<char>(value);
    const bool in_ascii = value < 0x80;
    CHECK(ascii::is_ascii(byte) == in_ascii);
    CHECK(ascii::is_control(byte) == (in_ascii && std::iscntrl(value) != 0));
    CHECK(ascii::is_digit(byte) == (in_ascii && std::isdigit(value) != 0));
    CHECK(ascii::is_letter(byte) == (in_ascii && std::isalpha(value) != 0));
    CHECK(ascii::is_letter_or_digit(byte) == (in_ascii && std::isalnum(value) != 0));
    CHECK(ascii::is_hex_digit(byte) == (in_ascii && std::isxdigit(value) != 0));
    CHECK(ascii::to_lower(byte) == (in_ascii ? static_cast<char>(std::tolower(value)) : byte));
  }
}

TEST_CASE("texts that differ only in the case of letters are equal") {
  CHECK(ascii::equal_ignoring_case("X-Bloomgate", "x-bLOOMGATE"));
  CHECK(ascii::equal_ignoring_case("", ""));
  CHECK_FALSE(ascii::equal_ignoring_case("abc", "ab"));
  CHECK_FALSE(ascii::equal_ignoring_case("[", "{"));
  CHECK_FALSE(ascii::equal_ignoring_case("\xc3\x84", "\xc3\xa4"));
  CHECK(ascii::lower_case("A-Z[\xc3\x84") == "a-z[\xc3\x84");
}

TEST_CASE("a word is found in a text in any case") {
  CHECK(ascii::find_ignoring_case("250 Ok, DisCarded, discarded", "discarded") == 8);
  CHECK(ascii::find_ignoring_case("discard", "discarded") == std::string_view::npos);
  CHECK(ascii::find_ignoring_case("", "discarded") == std::string_view::npos);
}

TEST_CASE("each byte of a text is tested, at every position and with any neighbours", "[no threads]") {
  for (const char beside : {'a', '\x80', '\xff', ' ', '~'}) {
    for (std::size_t size = 1; size <= 36; ++size) {
      for (std::size_t at = 0; at < size; ++at) {
        for (int value = 0; value < 256; ++value) {
          std::string text(size, beside);
          text[at] = static_cast<char>(value);
          const bool has_control = ascii::has_control(text, [](char) { return true; });
          const bool has_none_but_tabs = ascii::has_control(text, [](char byte) { return byte != '\t'; });
          const bool is_control = value < 0x20 || value == 0x7f;
          const bool is_ascii = value < 0x80 && (size == 1 || ascii::is_ascii(beside));
          if (has_control != is_control || has_none_but_tabs != (is_control && value != '\t') ||
              ascii::is_ascii(text) != is_ascii || ascii::is_printable(text) != (is_ascii && !is_control)) {
            FAIL("byte " << value << " at " << at << " of " << size << " beside " << static_cast<int>(beside));
          }
        }
      }
    }
  }
}

TEST_CASE("a text is trimmed of the named bytes at both ends, to nothing if it has no others") {
  CHECK(ascii::trimmed("\t a b \t", " \t") == "a b");
  CHECK(ascii::trimmed_front(" a ", " ") == "a ");
  CHECK(ascii::trimmed_back(" a ", " ") == " a");
  CHECK(ascii::trimmed(" a\t", " ") == "a\t");
  CHECK(ascii::trimmed("  ", " ").empty());
  CHECK(ascii::trimmed("", " ").empty());
}
