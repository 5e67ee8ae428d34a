#include "filter/address/plain_line.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/base/line_ends.hpp"
#include "read_plain_lines.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

PlainRead read_lines(const std::string& text) {
  return read_plain_lines<PlainLines>(text, "@example.net\nann@example.net\n");
}

#ifdef BLOOMGATE_READS_PLAIN_LINES
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
      {"joe@-ends-.-ends-\n", "joe@-ends-.-ends-"},
      {"bounce=joe@example.org\n", "bounce=joe@example.org"},
      {std::string(31, 'a') + "@example.org\n", std::string(31, 'a') + "@example.org"},
      {std::string(51, 'A') + "@example.org\n", std::string(51, 'a') + "@example.org"},
      {"joe@xn--mller-kva.example\n", "joe@xn--mller-kva.example"},
  }));
  const PlainRead read = read_lines(row.line);
  CHECK(read.bytes == row.line.size());
  CHECK(read.keys == std::vector{row.want});
}

TEST_CASE("plain lines are read up to the first line that is not plain") {
  const std::string plain = "Joe@example.org\r\nann@example.org\n";
  const std::string other = GENERATE(as<std::string>(), "j..e@example.org\n", "joe@example.org.\n", "joe\n", "\n",
                                     "@example.org\n", "joe@\n", "a@b@c\n", "joe@exa=mple.org\n", "joe\r@b\n",
                                     std::string(52, 'a') + "@example.org\n", std::string(700, 'a') + "@b\n");
  CAPTURE(other);
  // The line at every place of a word, and over the end of one.
  for (std::size_t filled = 0; filled < 70; ++filled) {
    const std::string first = std::string(filled / 5 + 1, 'x') + "@" + std::string(filled - filled / 5 + 1, 'y') + "\n";
    const bool first_is_plain = first.size() <= 64;
    const PlainRead read = read_lines(first + plain + other + plain);
    if (!first_is_plain) {
      CHECK(read.bytes == 0);
      continue;
    }
    CHECK(read.bytes == first.size() + plain.size());
    CHECK(read.keys ==
          std::vector<std::string>{first.substr(0, first.size() - 1), "joe@example.org", "ann@example.org"});
  }
}

// What a plain line is, a byte at a time. Without its line feed, which it must have.
bool is_plain(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t at = line.find('@');
  if (line.size() > 63 || at == std::string_view::npos) return false;
  const auto has_only = [](std::string_view text, std::string_view marks) {
    return std::ranges::all_of(text, [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             marks.find(c) != std::string_view::npos;
    });
  };
  const auto has_atoms = [](std::string_view text) {
    return !text.empty() && text.front() != '.' && text.back() != '.' && text.find("..") == std::string_view::npos;
  };
  const std::string_view local_part = line.substr(0, at);
  const std::string_view domain = line.substr(at + 1);
  return has_only(local_part, "._-+=") && has_only(domain, "._-") && has_atoms(local_part) && has_atoms(domain);
}

// Holds what was read of a text against the lines of it up to the first that is not plain, and against the
// canonicaliser.
void check_read(const std::string& text) {
  const PlainRead read = read_lines(text);
  std::vector<std::string> want;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    if (!is_plain(line)) break;
    const Entry entry = canonicalize_line(line);
    if (entry.kind() != EntryKind::address) FAIL("not an address: " << line);
    want.emplace_back(entry.key());
  }
  if (read.bytes == at && read.keys == want) return;
  CAPTURE(text, at, read.bytes, want, read.keys);
  FAIL("not the plain lines of the text");
}

TEST_CASE("every byte at every place is read as the canonicaliser reads it", "[no threads]") {
  // Three words and some: the line in which a byte is another starts and ends at every place of a word, within one and
  // over two, and its '@', dots and line end come to lie at every place, too.
  const std::string line = GENERATE(as<std::string>(), "a@b\n", "Jo.e+t=g_-9@Ex-a_m.pl0\r\n",
                                    std::string(30, 'Q') + "." + std::string(20, 'z') + "@" + "example.Org\n",
                                    "a@" + std::string(61, 'b') + "\n", std::string(61, 'a') + "@b\r\n");
  const std::size_t places = GENERATE(0U, 1U, 31U, 62U, 63U);
  if (test::kIsSanitized && places != 31 && places != 63) return;
  const std::string before = places < 4 ? std::string(places, 'x') : std::string(places - 4, 'x') + "@y\n";
  const std::string text = before + line + "x@y\n" + line + line;
  for (std::size_t place = 0; place < std::min<std::size_t>(text.size(), 135); ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[place] = static_cast<char>(byte);
      check_read(changed);
    }
  }
}

TEST_CASE("lines of every length are read if they have at most 63 bytes before their line end") {
  for (std::size_t bytes = 3; bytes < 200; ++bytes) {
    for (const char* const end : {"\n", "\r\n"}) {
      for (std::size_t shift = 3; shift < 70; ++shift) {
        const std::string before = std::string(std::min<std::size_t>(shift, 62) - 2, 'x') + "@y\n";
        check_read(before + "a@" + std::string(bytes - 2, 'b') + end + "x@y\n");
      }
    }
  }
}

TEST_CASE("wherever a text ends, its whole lines are read") {
  const std::string text =
      "joe@example.org\r\nAnn.Lee+tag@Sub.Example.ORG\na@b\n" + std::string(55, 'x') + "@y.z\r\nb@c\n";
  for (std::size_t size = 0; size <= text.size(); ++size) check_read(text.substr(0, size));
}

TEST_CASE("a line without its end is not read") {
  CHECK(read_lines("joe@example.org\nann").bytes == 16);
  CHECK(read_lines("joe@example.org\nann@example.org").bytes == 16);
  CHECK(read_lines("joe@example.org").bytes == 0);
  CHECK(read_lines("").bytes == 0);
}

TEST_CASE("a line end right after the text does not count") {
  for (std::size_t bytes = 3; bytes < 64; ++bytes) {
    const std::string line = std::string(bytes - 2, 'x') + "@y";
    std::string readable = "a@b\n" + line + "\n";
    const std::size_t text_bytes = readable.size() - 1;
    readable.resize(readable.size() + PlainLines::kReadable, 'x');
    PlainLines lines;
    CAPTURE(line);
    CHECK(lines.read(readable.data(), readable.data() + text_bytes) == readable.data() + 4);
    CHECK(lines.keys().size() == 1);
  }
}

TEST_CASE("a long list is read in steps that leave nothing out, of short lines and of long ones") {
  const std::size_t longest = GENERATE(11U, 57U);
  std::string text;
  std::vector<std::string> want;
  for (std::size_t i = 0; i < 20'000; ++i) {
    want.push_back(std::string(longest < 50 ? i % longest + 1 : longest, 'a') + std::to_string(i % 1000) + "@b");
    text += want.back() + "\n";
  }
  CHECK(read_all_plain_lines<PlainLines>(text) == want);
}
#endif

TEST_CASE("a line that is not plain is left to the full grammar") {
  const std::string line = GENERATE(
      "", "\n", "\r\n", "@example.org\n", "joe@\n", "joe\n", ".joe@example.org\n", "joe.@example.org\n",
      "j..e@example.org\n", "joe@.example.org\n", "joe@example.org.\n", "joe@example..org\n", "j@e@example.org\n",
      "joe@exa+mple.org\n", " joe@example.org\n", "joe@example.org \n", "#joe@example.org\n", "<joe@example.org>\n",
      "\"joe\"@example.org\n", "jo\u00e9@example.org\n", "joe@m\u00fcller.example\n", "joe@[192.0.2.1]\n",
      "*@example.org\n", "%@example.org\n", "joe\r@example.org\n", "joe@example.org\r\r\n");
  CAPTURE(line);
  CHECK(read_lines(line).bytes == 0);
  CHECK(read_lines(std::string(64, 'a') + "@example.org\n").bytes == 0);
}

TEST_CASE("every accepted line has the canonicaliser's key", "[no threads]") {
  std::mt19937 random(1);
  constexpr std::string_view kBytes = "aZ09.-_+=@@..  \r\n#<>\"!*%";
  std::size_t accepted = 0;
  constexpr int kTexts = test::kIsSanitized ? 20'000 : 200'000;
  for (int i = 0; i < kTexts; ++i) {
    std::string text = "x@";
    const std::size_t size = random() % 70;
    while (text.size() < size) {
      const char byte = kBytes[random() % kBytes.size()];
      text.insert(text.size() - random() % 2, 1, byte);
    }
    text += '\n';
    const PlainRead read = read_lines(text);
    if (read.bytes == 0) continue;
    ++accepted;
    std::vector<std::string> want;
    for (std::string_view rest = std::string_view(text).substr(0, read.bytes); !rest.empty();) {
      const Entry entry = canonicalize_line(take_line(rest));
      if (entry.kind() != EntryKind::address) FAIL(text);
      want.emplace_back(entry.key());
    }
    if (read.keys != want) FAIL(text);
  }
#ifdef BLOOMGATE_READS_PLAIN_LINES
  CHECK(accepted > kTexts / 200);
#endif
}

}  // namespace
}  // namespace bloomgate
