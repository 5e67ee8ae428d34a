#include "filter/base/shell_word.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("bytes of outsiders come into a command only in quotes, and dangerous ones not at all") {
  const auto word = [](std::string_view text) { return shell_word(text, "ADDRESS"); };
  CHECK(word("joe@example.org") == "joe@example.org");
  CHECK(word("/var/lib/bloomgate/whitelist.bloom") == "/var/lib/bloomgate/whitelist.bloom");
  CHECK(word("/srv/our lists/a.bloom") == "'/srv/our lists/a.bloom'");
  CHECK(word("joe;reboot@example.org") == "'joe;reboot@example.org'");
  CHECK(word("$(reboot)@example.org") == "'$(reboot)@example.org'");
  CHECK(word("joe'reboot'@example.org") == "ADDRESS");
  CHECK(word("j\\xc3\\xb8@example.org") == "ADDRESS");
  CHECK(word("j\x1b@example.org") == "ADDRESS");
  CHECK(word("j\x7f@example.org") == "ADDRESS");
  CHECK(word("~joe @example.org") == "'~joe @example.org'");
  CHECK(word("--explain@example.org") == "ADDRESS");
  CHECK(word("") == "ADDRESS");
}

}  // namespace
}  // namespace bloomgate
