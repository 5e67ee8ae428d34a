#include "milter/deep_check/rspamd_reply.hpp"

#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace bloomgate::test {
namespace {

std::string reply_with(std::string_view action, double score, std::string_view more = "") {
  return fmt::format(R"({{"is_skipped":false,"score":{},"required_score":15.0,"action":"{}","symbols":{{}}{}}})", score,
                     action, more);
}

TEST_CASE("an answer of rspamd is read with all its parts") {
  const DeepResult result = parse_rspamd_reply(R"({"is_skipped":false,"score":7.25,"required_score":15.0,
    "action":"add header","thresholds":{"reject":15.0,"add header":6.0,"greylist":4.0},
    "symbols":{
      "MIME_GOOD":{"name":"MIME_GOOD","score":-0.1,"metric_score":-0.1,"options":["text/plain"]},
      "BAYES_SPAM":{"name":"BAYES_SPAM","score":5.1,"metric_score":5.1,"description":"x","options":["99.99%"]},
      "ASN":{"name":"ASN","score":0.0,"options":["asn:64496","ipnet:192.0.2.0/24"]},
      "R_DKIM_NA":{"name":"R_DKIM_NA","score":2.25}},
    "messages":{"smtp_message":"Try again later"},"message-id":"1@example.org","time_real":0.08})");
  CHECK(result.verdict == DeepVerdict::spam);
  CHECK(result.action == "add header");
  CHECK(result.score == 7.25);
  CHECK(result.spam_threshold == 6);
  CHECK(result.reject_threshold == 15);
  CHECK(result.smtp_message == "Try again later");
  // The heaviest first.
  CHECK(result.symbols == std::vector<DeepSymbol>{{"BAYES_SPAM", 5.1, "99.99%"},
                                                  {"R_DKIM_NA", 2.25, ""},
                                                  {"MIME_GOOD", -0.1, "text/plain"},
                                                  {"ASN", 0.0, "asn:64496,ipnet:192.0.2.0/24"}});
}

TEST_CASE("each action of rspamd has its verdict, and an unknown action counts by the score") {
  struct Case {
    const char* action;
    double score;
    DeepVerdict want;
  };
  const Case cases[] = {
      {"no action", 99, DeepVerdict::ham},
      {"greylist", 99, DeepVerdict::ham},
      {"add header", 0, DeepVerdict::spam},
      {"rewrite subject", 0, DeepVerdict::spam},
      {"quarantine", 0, DeepVerdict::spam},
      {"soft reject", 0, DeepVerdict::soft_reject},
      {"reject", 0, DeepVerdict::reject},
      {"discard", 0, DeepVerdict::reject},
      {"house rule", 14.9, DeepVerdict::ham},
      {"house rule", 15, DeepVerdict::spam},
      {"", 99, DeepVerdict::spam},
      {"REJECT", 1, DeepVerdict::ham},
  };
  for (const Case& c : cases) {
    CAPTURE(c.action, c.score);
    CHECK(parse_rspamd_reply(reply_with(c.action, c.score)).verdict == c.want);
  }
}

TEST_CASE("the threshold is rspamd's for spam if it names one, and else the one that it names") {
  struct Case {
    const char* more;
    double spam, reject;
  };
  const Case cases[] = {
      {"", 15, 15},
      {R"(,"thresholds":{"reject":20,"add header":6})", 6, 20},
      {R"(,"thresholds":{"reject":20,"rewrite subject":7})", 7, 20},
      {R"(,"thresholds":{"greylist":4})", 15, 15},
      {R"(,"thresholds":{"reject":null,"add header":"6"})", 15, 15},
      {R"(,"thresholds":[1,2])", 15, 15},
  };
  for (const Case& c : cases) {
    CAPTURE(c.more);
    const DeepResult result = parse_rspamd_reply(reply_with("no action", 1, c.more));
    CHECK(result.spam_threshold == c.spam);
    CHECK(result.reject_threshold == c.reject);
  }
}

TEST_CASE("an invalid answer of rspamd is refused with a reason") {
  struct Case {
    std::string text, want;
  };
  const Case cases[] = {
      {"", "not JSON"},
      {"<html>", "not JSON: <html>"},
      {R"({"score":1,"action":"reject")", "not JSON"},
      {R"({"score":1e999,"action":"reject"})", "not JSON"},
      {"\xff\xfe", "not JSON"},
      {"[]", "no score and no action: []"},
      {"null", "no score and no action"},
      {R"({"score":1})", "no score and no action"},
      {R"({"action":"reject"})", "no score and no action"},
      {R"({"score":"1","action":"reject"})", "no score and no action"},
      {R"({"score":1,"action":true})", "no score and no action"},
      {R"({"error":"unknown encoding","error_domain":"x"})", "it says: unknown encoding"},
      {std::string(100'000, '['), "nested too deeply"},
      {R"({"score":1,"action":"reject","a":)" + std::string(100, '[') + std::string(100, ']') + "}", "too deeply"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text.substr(0, 100));
    CHECK_THROWS_WITH(parse_rspamd_reply(c.text), Contains(c.want));
    CHECK_THROWS_AS(parse_rspamd_reply(c.text), CheckerError);
  }
}

TEST_CASE("an answer has at most 16 levels and 20 options for each symbol, and unknown kinds are ignored") {
  const auto nested = [](std::size_t depth) {
    return reply_with("reject", 1, R"(,"a":)" + std::string(depth, '[') + std::string(depth, ']'));
  };
  // The answer itself is one level.
  CHECK(parse_rspamd_reply(nested(15)).score == 1);
  CHECK_THROWS_WITH(parse_rspamd_reply(nested(16)), Contains("too deeply"));

  const auto options = [](int count) {
    std::string text = R"({"score":1,"action":"reject","symbols":{"S":{"score":1,"options":[7)";
    for (int i = 0; i < count; ++i) text += fmt::format(R"(,"{}")", static_cast<char>('a' + i));
    return parse_rspamd_reply(text + "]}}}").symbols.at(0).options;
  };
  CHECK(options(20) == "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t");
  CHECK(options(21) == options(20));

  const auto symbols = [](std::string_view text) {
    return parse_rspamd_reply(R"({"score":1,"action":"reject","symbols":)" + std::string(text) + "}").symbols;
  };
  CHECK(symbols(R"({"S":{"options":"text"}})") == std::vector<DeepSymbol>{{"S", 0.0, ""}});
  CHECK(symbols(R"({"S":{"options":{"a":"b"}}})") == std::vector<DeepSymbol>{{"S", 0.0, ""}});
  CHECK(symbols(R"({"S":{"score":1},"A":{"score":-2},"S":{"score":2}})") ==
        std::vector<DeepSymbol>{{"A", -2.0, ""}, {"S", 2.0, ""}});
  CHECK(symbols(R"(["S","T"])").empty());
  CHECK(symbols(R"([{"score":1}])").empty());
  CHECK(symbols("null").empty());
  CHECK(parse_rspamd_reply(reply_with("reject", 1, R"(,"messages":["smtp_message"])")).smtp_message.empty());
}

TEST_CASE("the error about an unreadable answer is short") {
  for (const std::string& text : {std::string(50'000, 'x'), R"({"score":1,"a":")" + std::string(50'000, 'x') + "\"}",
                                  R"({"error":")" + std::string(50'000, 'x') + "\"}"}) {
    const auto error = error_of<CheckerError>([&] { parse_rspamd_reply(text); });
    CHECK(std::string_view(error.what()).size() < 300);
  }
}

TEST_CASE("texts of an answer are cut off and cleaned, and members of another kind are ignored") {
  const DeepResult result = parse_rspamd_reply(R"({"score":1,"action":"no\naction",
    "symbols":{"A,B; X-Evil":{"score":"1","options":["a]; FAKE(-9.00)[b","c\r\nd",7]},"":{"score":1},"C":3},
    "messages":{"smtp_message":"Go\r\naway \u00e9 %s"}})");
  CHECK(result.action == "no?action");
  CHECK(result.smtp_message == "Go??away ?? %s");
  CHECK(result.symbols == std::vector<DeepSymbol>{{"A?B??X-Evil", 0.0, "a?? FAKE(-9.00)?b,c??d"}, {"C", 0.0, ""}});

  std::string many = R"({"score":1,"action":"reject","messages":{"smtp_message":")" + std::string(5000, 'x') + R"("},)";
  many += R"("symbols":{"LAST":{"score":0})";
  for (int i = 0; i < 1000; ++i) many += fmt::format(R"(,"S{}":{{"score":{}}})", i, i);
  const DeepResult cut = parse_rspamd_reply(many + "}}");
  CHECK(cut.smtp_message.size() == 400);
  REQUIRE(cut.symbols.size() == 200);
  CHECK(cut.symbols.front().name == "S999");
  CHECK(cut.symbols.back().name == "S800");
}

}  // namespace
}  // namespace bloomgate::test
