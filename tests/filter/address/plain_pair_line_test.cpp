// The fast path for pairs gives what the canonicaliser gives, or leaves a line alone.
#include <random>
#include <string>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/address/plain_line.hpp"
#include "read_plain_lines.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

PlainRead read_lines(const std::string& text) {
  return read_plain_lines<PlainPairLines>(text, "eve@example.net > ann@ours.example\n");
}

#ifdef BLOOMGATE_READS_PLAIN_LINES
TEST_CASE("plain pairs are read with their line end and folded") {
  const PlainRead read =
      read_lines("Joe@Example.ORG > ann+x@ours.example\r\na@b > c@d\n" + std::string(61, 'x') + "@y > " +
                 std::string(59, 'z') + "@w\n" + std::string(58, 'x') + "@y > " + std::string(61, 'z') + "@w\r\n");
  REQUIRE(read.keys.size() == 4);
  CHECK(read.keys[0] == "joe@example.org\nann+x@ours.example");
  CHECK(read.keys[1] == "a@b\nc@d");
  // The longest lines that are, of 127 bytes, and the longest sides, of 63.
  CHECK(read.keys[2] == std::string(61, 'x') + "@y\n" + std::string(59, 'z') + "@w");
  CHECK(read.keys[3] == std::string(58, 'x') + "@y\n" + std::string(61, 'z') + "@w");
}

TEST_CASE("plain pairs are read up to the first line that is not a plain pair, at every position") {
  const std::string plain = "joe@example.org > ann@ours.example\n";
  const std::string other = GENERATE(
      as<std::string>(), "joe@example.org\n", "@example.org > ann@ours.example\n", "joe@example.org > @ours.example\n",
      "joe@example.org >  ann@ours.example\n", "joe@example.org > ann@ours.example # x\n",
      "joe@example.org\r > ann@ours.example\n", "#joe@example.org > ann@ours.example\n",
      "joe@example.org > ann@b > c@d\n", "a@b >\n", " > a@b\n", "> a@b\n", ">\n", "\n", "> \n",
      "joe@example.org> ann@ours.example\n", std::string(62, 'x') + "@y > a@b\n",
      "a@b > " + std::string(62, 'x') + "@y\n", std::string(61, 'x') + "@y > " + std::string(60, 'z') + "@w\n",
      std::string(58, 'x') + "@y > " + std::string(61, 'z') + "@w\r\r\n");
  CAPTURE(other);
  for (std::size_t before = 0; before < 130; before += 13) {
    std::string first;
    for (std::size_t i = 0; i < before; ++i) first += "u" + std::to_string(i) + "@b > c@d\n";
    std::string text = first;
    text += plain + other + plain;
    std::size_t at = 0;
    std::size_t keys = 0;
    for (PlainRead read; !(read = read_lines(text.substr(at))).keys.empty(); at += read.bytes) keys += read.keys.size();
    CHECK(at == first.size() + plain.size());
    CHECK(keys == before + 1);
  }
}

TEST_CASE("a sign is recognised across the end of a machine word") {
  for (std::size_t bytes = 1; bytes < 62; ++bytes) {
    const std::string sender = std::string(bytes, 'a') + "@b";
    CAPTURE(sender);
    CHECK(read_lines(sender + " > c@d\n").keys == std::vector<std::string>{sender + "\nc@d"});
    CHECK(read_lines("a@b > " + sender + "\n").keys == std::vector<std::string>{"a@b\n" + sender});
    for (const std::string sign : {" >", "> ", " ", ">", " >> ", " >  ", "  > ", " > > "}) {
      CHECK(read_lines(sender + sign + "c@d\n").keys.empty());
    }
  }
}

TEST_CASE("a byte that breaks a rule is noticed at every place, in lines of one machine word and of two") {
  const std::string line = GENERATE(as<std::string>(), "joe.x@a.example > ann@c.example\r\n",
                                    "joe.b@mail.department.example.org > ann.c@mail.ours.example.net\n");
  for (const char byte : std::string("@. >+-_,\r\n\t#\"\0\x80Z9", 17)) {
    for (std::size_t at = 0; at < line.size(); ++at) {
      std::string text = line;
      text[at] = byte;
      CAPTURE(text, at);
      const Entry entry = canonicalize_list_line(text.substr(0, text.find('\n') + 1));
      // It may leave any line alone, but a line of usual bytes would be slow then.
      const bool is_usual = byte == '+' || byte == '-' || byte == '_' || byte == 'Z' || byte == '9';
      const PlainRead read = read_lines(text);
      if (is_usual && entry.kind() == EntryKind::pair) CHECK_FALSE(read.keys.empty());
      if (!read.keys.empty()) {
        REQUIRE(entry.kind() == EntryKind::pair);
        CHECK(read.keys[0] == entry.key());
      }
    }
  }
}

TEST_CASE("a long list of pairs is read in steps that leave nothing out, of short lines and of long ones") {
  const std::size_t longest = GENERATE(0U, 11U, 57U);
  std::string text;
  std::vector<std::string> want;
  for (std::size_t i = 0; i < 20'000; ++i) {
    const std::string sender =
        std::string(longest < 50 ? i % (longest + 1) : longest, 'a') + std::to_string(i % 10) + "@b";
    const std::string recipient = std::string(longest < 50 ? i % 7 % (longest + 1) : longest, 'c') + "c@d";
    want.push_back(sender + "\n" + recipient);
    text += sender + " > " + recipient + "\n";
  }
  CHECK(read_all_plain_lines<PlainPairLines>(text) == want);
}

TEST_CASE("wherever a text of pairs ends, its whole lines are read") {
  const std::string line = GENERATE(as<std::string>(), "joe@example.org > ann@ours.example\n",
                                    "joe@mail.department.example.org > ann@mail.department.ours.example.net\n");
  const std::string text = line + line + line + line;
  for (std::size_t bytes = 0; bytes <= text.size(); ++bytes) {
    const std::string rest = text.substr(bytes) + "eve@example.net > ann@ours.example\n";
    const PlainRead read = read_plain_lines<PlainPairLines>(text.substr(0, bytes), rest);
    CAPTURE(bytes);
    CHECK(read.keys.size() == bytes / line.size());
    CHECK(read.bytes == bytes / line.size() * line.size());
  }
}

TEST_CASE("after a step that reads nothing, the pairs of the step before are gone") {
  std::string text = "a@b > c@d\n\n";
  const std::size_t bytes = text.size();
  text.resize(bytes + PlainLines::kReadable, 'x');
  PlainPairLines lines;
  const char* const stop = lines.read(text.data(), text.data() + bytes);
  CHECK(lines.keys().size() == 1);
  CHECK(lines.read(stop, text.data() + bytes) == stop);
  CHECK(lines.keys().empty());
}
#endif

TEST_CASE("over long and random text, plain pairs have the canonicaliser's keys") {
  std::mt19937 random(1);
  const std::vector<std::string> pieces = {"joe", "@",    "example.org", " > ", ">",   " ",  "\n",  "\r\n",
                                           "\r",  "Ann.", "x",           "#",   "a@b", "\n", " > ", "c@d > e@f\n"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += pieces[random() % pieces.size()];
    std::size_t at = 0;
    while (at < text.size()) {
      const PlainRead read = read_lines(text.substr(at));
      for (const std::string& key : read.keys) {
        const std::size_t line_end = text.find('\n', at);
        REQUIRE(line_end != std::string::npos);
        const Entry entry = canonicalize_list_line(text.substr(at, line_end + 1 - at));
        REQUIRE(entry.kind() == EntryKind::pair);
        REQUIRE(entry.key() == key);
        at = line_end + 1;
      }
      const std::size_t line_end = text.find('\n', at);
      if (line_end == std::string::npos) break;
      at = line_end + 1;
    }
  }
}

TEST_CASE("a text without a line end and an empty text have no pairs") {
  CHECK(read_lines("joe@example.org > ann@ours.example").bytes == 0);
  CHECK(read_lines("").bytes == 0);
}

}  // namespace
}  // namespace bloomgate
