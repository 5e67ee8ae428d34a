#include "filter/plain_line.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "filter/address.hpp"

namespace bloomgate {
namespace {

struct Read {
  std::size_t line_bytes;
  std::string key;
};

Read read_line(std::string text) {
  text.resize(text.size() + kPlainLineReadable, '\n');
  std::array<char, kPlainLineReadable> buffer;
  const PlainLine plain = read_plain_line(text.data(), buffer.data());
  return {plain.line_bytes, std::string(plain.key)};
}

#ifdef __SSE2__
TEST_CASE("plain lines are read with their line end and folded") {
  struct Row {
    std::string line;
    std::string want;
  };
  const Row row = GENERATE(values<Row>({
      {"joe@example.org\n", "joe@example.org"},
      {"joe@example.org\r\n", "joe@example.org"},
      {"Joe.DOE+Tag@Example.ORG\n", "joe.doe+tag@example.org"},
      {"a@b\n", "a@b"},
      {"under_score@my_host.example\n", "under_score@my_host.example"},
      {"-dash-@da-sh.example\n", "-dash-@da-sh.example"},
      {"bounce=joe@example.org\n", "bounce=joe@example.org"},
      {std::string(31, 'a') + "@example.org\n", std::string(31, 'a') + "@example.org"},
      {std::string(51, 'A') + "@example.org\n", std::string(51, 'a') + "@example.org"},
      {"joe@xn--mller-kva.example\n", "joe@xn--mller-kva.example"},
  }));
  const Read read = read_line(row.line);
  CHECK(read.line_bytes == row.line.size());
  CHECK(read.key == row.want);
}
#endif

TEST_CASE("what is not plain is left alone") {
  const std::string line =
      GENERATE("", "\n", "\r\n", "@example.org\n", "joe@\n", "joe\n", ".joe@example.org\n", "joe.@example.org\n",
               "j..e@example.org\n", "joe@.example.org\n", "joe@example.org.\n", "joe@example..org\n",
               "joe@-example.org\n", "joe@example-.org\n", "joe@example.-org\n", "joe@example.org-\n",
               "j@e@example.org\n", "joe@exa+mple.org\n", " joe@example.org\n", "joe@example.org \n",
               "#joe@example.org\n", "<joe@example.org>\n", "\"joe\"@example.org\n", "jo\u00e9@example.org\n",
               "joe@m\u00fcller.example\n", "joe@[192.0.2.1]\n", "joe\r@example.org\n", "joe@example.org\r\r\n");
  CAPTURE(line);
  CHECK(read_line(line).line_bytes == 0);
  CHECK(read_line(std::string(64, 'a') + "@example.org\n").line_bytes == 0);
}

TEST_CASE("whatever is accepted has the canonicaliser's key") {
  std::mt19937 random(1);
  constexpr std::string_view kBytes = "aZ09.-_+=@@..  \r\n#<>\"!";
  std::size_t accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string line = "x@";
    const std::size_t size = random() % 70;
    while (line.size() < size) line.insert(line.size() - random() % 2, 1, kBytes[random() % kBytes.size()]);
    line += '\n';
    const Read read = read_line(line);
    if (read.line_bytes == 0) continue;
    ++accepted;
    const Entry entry = canonicalize_line(line.substr(0, read.line_bytes));
    if (entry.kind() != EntryKind::address || entry.key() != read.key) FAIL(line);
  }
#ifdef __SSE2__
  CHECK(accepted > 1000);
#endif
}

}  // namespace
}  // namespace bloomgate
