#include "milter/deep_check/spamd_reply.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace bloomgate::test {
namespace {

// "BAYES_99,GTUBE"
std::string names_of(const DeepResult& result) {
  std::string names;
  for (const DeepSymbol& symbol : result.symbols) {
    names.append(names.empty() ? "" : ",").append(symbol.name);
    CHECK_FALSE(symbol.score);
  }
  return names;
}

TEST_CASE("an answer of spamd is read with all its parts") {
  struct Case {
    std::string name, text;
    DeepVerdict verdict;
    double score, threshold;
    std::string symbols;
  };
  const Case cases[] = {
      {"spam", "SPAMD/1.1 0 EX_OK\r\nContent-length: 14\r\nSpam: True ; 15.3 / 5.0\r\n\r\nBAYES_99,GTUBE",
       DeepVerdict::spam, 15.3, 5, "BAYES_99,GTUBE"},
      {"ham", "SPAMD/1.1 0 EX_OK\r\nContent-length: 9\r\nSpam: False ; -0.1 / 5.0\r\n\r\nNO_RELAYS", DeepVerdict::ham,
       -0.1, 5, "NO_RELAYS"},
      {"no tests", "SPAMD/1.1 0 EX_OK\r\nContent-length: 0\r\nSpam: False ; 0 / 5\r\n\r\n", DeepVerdict::ham, 0, 5, ""},
      {"other spellings", "SPAMD/1.5 0 OK\nspam:yes;6/5\nX-Other: a; b\n\nA, B ,,C\n", DeepVerdict::spam, 6, 5,
       "A,B,C"},
      {"no length", "SPAMD/1.1 0 EX_OK\r\nSpam: No ; 1.0 / 5.0\r\n\r\n", DeepVerdict::ham, 1, 5, ""},
      {"more than its length", "SPAMD/1.1 0 EX_OK\r\nContent-length: 1\r\nSpam: True ; 6 / 5\r\n\r\nA,B\r\n",
       DeepVerdict::spam, 6, 5, "A,B"},
      {"strange names", "SPAMD/1.1 0 EX_OK\r\nSpam: True ; 6 / 5\r\n\r\nA B\x01,\xff", DeepVerdict::spam, 6, 5,
       "A?B?,?"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const DeepResult result = parse_spamd_reply(c.text);
    CHECK(result.verdict == c.verdict);
    CHECK(result.score == c.score);
    CHECK(result.spam_threshold == c.threshold);
    CHECK(names_of(result) == c.symbols);
    CHECK(result.action.empty());
  }
}

TEST_CASE("an invalid or incomplete answer of spamd is refused with a reason") {
  struct Case {
    std::string text, want;
  };
  const Case cases[] = {
      {"", "without an answer"},
      {"SPAMD/1.1 0 EX_OK", "breaks off"},
      {"SPAMD/1.1 0 EX_OK\r\n", "breaks off"},
      {"SPAMD/1.1 0 EX_OK\r\nSpam: True ; 15.3 / 5.0\r\n", "breaks off"},
      {"SPAMD/1.1 0 EX_OK\r\nContent-length: 5\r\nSpam: True ; 15.3 / 5.0\r\n\r\nA,B", "breaks off: A,B"},
      {"SPAMD/1.0 76 Bad header line: (x)\r\n\r\n", "it refuses: SPAMD/1.0 76 Bad header line: (x)"},
      {"SPAMD/1.0 -1 x\r\n\r\n", "not spamd's"},
      {"HTTP/1.1 200 OK\r\n\r\n", "not spamd's: HTTP/1.1 200 OK"},
      {"SPAMD/1.1\r\n\r\n", "not spamd's"},
      {"SPAMD/1.1 0 EX_OK\r\n\r\nA", "no field Spam"},
      {"SPAMD/1.1 0 EX_OK\r\nSpam: Maybe ; 1 / 5\r\n\r\n", "neither True nor False"},
      {"SPAMD/1.1 0 EX_OK\r\nSpam:\r\n\r\n", "neither True nor False"},
      {"SPAMD/1.1 0 EX_OK\r\nSpam: True\r\n\r\n", "no threshold"},
      {"SPAMD/1.1 0 EX_OK\r\nSpam: True ; x / 5\r\n\r\n", "no number"},
      {"SPAMD/1.1 0 EX_OK\r\nSpam: True ; nan / 5\r\n\r\n", "no number"},
      {"SPAMD/1.1 0 EX_OK\r\nSpam: True ; 1 / inf\r\n\r\n", "no number"},
      {"SPAMD/1.1 0 EX_OK\r\nSpam: True ; 1e999 / 5\r\n\r\n", "no number"},
      {"SPAMD/1.1 0 EX_OK\r\nSpam: True ; 1 / 5\r\nSpam: False ; 1 / 5\r\n\r\n", "two fields Spam"},
      {"SPAMD/1.1 0 EX_OK\r\nContent-length: many\r\nSpam: True ; 1 / 5\r\n\r\n", "Content-length is not a number"},
      {"SPAMD/1.1 0 EX_OK\r\nContent-length: 99999999999999999999\r\nSpam: True ; 1 / 5\r\n\r\n", "not a number"},
      {"SPAMD/1.1 0 EX_OK\r\nContent-length: 18446744073709551615\r\nSpam: True ; 1 / 5\r\n\r\n", "breaks off"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK_THROWS_WITH(parse_spamd_reply(c.text), Contains(c.want));
    CHECK_THROWS_AS(parse_spamd_reply(c.text), CheckerError);
  }
}

TEST_CASE("the number and the length of names, and the quoted part of an invalid answer, are bounded") {
  std::string text = "SPAMD/1.1 0 EX_OK\r\nSpam: True ; 6 / 5\r\n\r\n" + std::string(300, 'x');
  for (int i = 0; i < 1000; ++i) text += ",A";
  const DeepResult result = parse_spamd_reply(text);
  CHECK(result.symbols.size() == 200);
  CHECK(result.symbols.front().name.size() == 100);
  const std::string nonsense = "HTTP/1.1 " + std::string(100'000, 'x') + "\n";
  const auto error = error_of<CheckerError>([&] { parse_spamd_reply(nonsense); });
  CHECK(std::string_view(error.what()).size() < 300);
}

TEST_CASE("only PONG answers PING") {
  require_pong("SPAMD/1.5 0 PONG\r\n");
  for (const char* const text :
       {"", "PONG\r\n", "SPAMD/1.5 0 PONG", "SPAMD/1.5 0 EX_OK\r\n", "SPAMD/1.5 76 PONG\r\n"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(require_pong(text), CheckerError);
  }
}

}  // namespace
}  // namespace bloomgate::test
