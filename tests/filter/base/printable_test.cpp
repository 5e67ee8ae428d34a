#include "filter/base/printable.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("text for a line keeps printable ASCII and escapes everything else") {
  struct Case {
    std::string_view name, input, want;
  };
  const Case cases[] = {
      {"nothing", "", ""},
      {"plain", "a b~!\\", "a b~!\\"},
      {"line ends", "a\nb\r", "a\\x0ab\\x0d"},
      {"terminal controls", "\x1b[2J\x7f", "\\x1b[2J\\x7f"},
      {"NUL", std::string_view("a\0b", 3), "a\\x00b"},
      {"UTF-8", "m\xc3\xbcller", "m\\xc3\\xbcller"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(printable(c.input) == c.want);
    CHECK(printable(printable(c.input)) == c.want);
  }
}

TEST_CASE("a word for a line has no space, and says how much was cut off") {
  struct Case {
    std::string_view name, input;
    std::size_t max_bytes;
    std::string_view want;
  };
  const Case cases[] = {
      {"fits", "<joe@example.org>", 20, "<joe@example.org>"},
      {"fits exactly", "abc", 3, "abc"},
      {"too long", "abcdef", 3, "abc\\+3"},
      {"space and backslash", "a b\\x", 9, "a\\x20b\\x5cx"},
      {"a forged field", "<\"x decision=deliver\"@e>", 99, "<\"x\\x20decision=deliver\"@e>"},
      {"a forged line", "<a>\nqueue_id=1", 99, "<a>\\x0aqueue_id=1"},
      {"the limit counts bytes of the input", "\n\n\n", 2, "\\x0a\\x0a\\+1"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(printable_word(c.input, c.max_bytes) == c.want);
  }
}

TEST_CASE("every byte becomes printable in a word, without a space") {
  for (int byte = 0; byte < 256; ++byte) {
    const char character = static_cast<char>(byte);
    for (const char out : printable_word({&character, 1}, 10)) {
      CHECK((out > ' ' && out <= '~'));
    }
  }
}

}  // namespace
}  // namespace bloomgate
