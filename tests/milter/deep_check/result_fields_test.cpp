#include "milter/deep_check/result_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

using Fields = std::vector<ResultField>;

DeepResult rspamd_result(DeepVerdict verdict, const char* action) {
  return {.verdict = verdict,
          .score = 7.25,
          .spam_threshold = 6,
          .reject_threshold = 15,
          .action = action,
          .symbols = {{"BAYES_SPAM", 5.1, "99.99%"}, {"MIME_GOOD", -0.1, "text/plain"}, {"ARC_NA", 0.0, ""}}};
}

TEST_CASE("SpamAssassin's result has its usual form") {
  DeepResult result{.verdict = DeepVerdict::spam, .score = 12.34, .spam_threshold = 5};
  result.symbols = {{"BAYES_99", std::nullopt, ""}, {"GTUBE", std::nullopt, ""}};
  CHECK(result_fields(result) == Fields{{"X-Spam-Status", "Yes, score=12.3 required=5.0 tests=BAYES_99,GTUBE"},
                                        {"X-Spam-Flag", "YES"},
                                        {"X-Spam-Score", "12.3"}});
  result = {.verdict = DeepVerdict::ham, .score = -1, .spam_threshold = 5};
  CHECK(result_fields(result) ==
        Fields{{"X-Spam-Status", "No, score=-1.0 required=5.0 tests=none"}, {"X-Spam-Score", "-1.0"}});
}

TEST_CASE("rspamd's result has the form of its own milter") {
  CHECK(result_fields(rspamd_result(DeepVerdict::spam, "add header")) ==
        Fields{{"X-Spam-Status", "Yes, score=7.2 required=6.0 tests=BAYES_SPAM,MIME_GOOD,\n\tARC_NA"},
               {"X-Spam-Flag", "YES"},
               {"X-Spam-Score", "7.2"},
               {"X-Spamd-Result",
                "default: False [7.25 / 15.00]; BAYES_SPAM(5.10)[99.99%];\n\tMIME_GOOD(-0.10)[text/plain]; "
                "ARC_NA(0.00)[]"}});
  CHECK_THAT(result_fields(rspamd_result(DeepVerdict::reject, "reject")).back().value,
             StartsWith("default: True [7.25 / 15.00]; "));
}

TEST_CASE("only spam gets the flag") {
  const auto is_flagged = [](DeepVerdict verdict) {
    const Fields fields = result_fields(rspamd_result(verdict, "whatever"));
    return std::ranges::count(fields, ResultField{"X-Spam-Flag", "YES"}) == 1;
  };
  CHECK(is_flagged(DeepVerdict::spam));
  CHECK(is_flagged(DeepVerdict::reject));
  CHECK_FALSE(is_flagged(DeepVerdict::ham));
  CHECK_FALSE(is_flagged(DeepVerdict::soft_reject));
}

// Lines that any mail server takes (RFC 5322 section 2.1.1), and not too many of them.
void check_form(const ResultField& field) {
  CAPTURE(field.name, field.value.size());
  CHECK(field.value.size() <= 10'000);
  std::size_t begin = 0;
  while (begin <= field.value.size()) {
    const std::size_t end = std::min(field.value.find('\n', begin), field.value.size());
    CHECK(end - begin < 900);
    if (end < field.value.size()) CHECK(field.value[end + 1] == '\t');
    begin = end + 1;
  }
  CHECK(std::ranges::all_of(field.value, [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; }));
}

TEST_CASE("a huge result is cut off between its tests, and every line stays within its length") {
  DeepResult result = rspamd_result(DeepVerdict::spam, "add header");
  result.score = 1e300;
  result.symbols.clear();
  for (int i = 0; i < 200; ++i)
    result.symbols.push_back({fmt::format("TEST_{:03}_{}", i, std::string(90, 'X')), -1e300, std::string(500, 'y')});
  const Fields fields = result_fields(result);
  for (const ResultField& field : fields) check_form(field);
  CHECK_THAT(fields[0].value, Contains("TEST_050") && !Contains("TEST_199"));
  CHECK(fields[2] == ResultField{"X-Spam-Score", "1000000.0"});
}

TEST_CASE("a line is folded where it would be longer than 60 characters, and not before") {
  const std::string sixty = "Unknown, " + std::string(51, 'x');
  CHECK(failure_fields(std::string(51, 'x')) == Fields{{"X-Spam-Status", sixty}});
  CHECK(failure_fields(std::string(51, 'x') + " y") == Fields{{"X-Spam-Status", sixty + "\n\ty"}});
  CHECK(failure_fields(std::string(52, 'x')) == Fields{{"X-Spam-Status", "Unknown,\n\t" + std::string(52, 'x')}});
}

TEST_CASE("if the message was not checked, its field says why") {
  CHECK(failure_fields("rspamd: it cannot be reached") ==
        Fields{{"X-Spam-Status", "Unknown, rspamd: it cannot be reached"}});
  CHECK(failure_fields("a\r\nX-Evil:  b\xc3\xa9") == Fields{{"X-Spam-Status", "Unknown, a??X-Evil: b??"}});
  CHECK(failure_fields("") == Fields{{"X-Spam-Status", "Unknown,"}});
  for (const std::string& reason : {std::string(5000, 'x'), std::string("word ") + std::string(5000, ' ') + "end"})
    check_form(failure_fields(reason).front());
  std::string words;
  for (int i = 0; i < 1000; ++i) words += "word ";
  check_form(failure_fields(words).front());
}

}  // namespace
}  // namespace bloomgate::test
