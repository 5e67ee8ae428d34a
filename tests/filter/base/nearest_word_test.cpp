#include "filter/base/nearest_word.hpp"

#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a mistyped word is told from the word that is meant by at most one edit for three letters") {
  const std::vector<std::string> known = {"query", "build", "merge", "info", "add-layer", "size", "side"};
  struct Case {
    std::string typed;
    std::string_view want;
  };
  for (const auto& [typed, want] : {
           Case{"query", "query"},  // no edit
           {"QUERY", "query"},
           {"add_layer", "add-layer"},
           {"qury", "query"},  // one is missing, too many, another, and two are swapped
           {"queery", "query"},
           {"qvery", "query"},
           {"qeury", "query"},
           {"infp", "info"},
           {"nifo", "info"},
           {"inof", "info"},
           {"xsze", ""},  // no swap, or a swap and another edit
           {"ixze", ""},
           {"isxe", ""},
           {"if", ""},  // a word of two letters may have no edit
           {"inf", "info"},
           {"bulid", "build"},
           {"bulidx", "build"},  // two in six letters
           {"bxlxd", ""},        // two in five
           {"dd-lyer", "add-layer"},
           {"sike", "size"},  // as near as another: the first counts
           {"", ""},
           {std::string(64, 'x'), ""},
       }) {
    CAPTURE(typed);
    CHECK(nearest_word(typed, known) == want);
  }
  const std::vector<std::string> long_ones = {std::string(64, 'x'), std::string(65, 'x')};
  CHECK(nearest_word(std::string(64, 'x'), long_ones) == long_ones[0]);
  CHECK(nearest_word(std::string(65, 'x'), long_ones).empty());  // no name is so long
  CHECK(nearest_word_hint("qury", known, "--") == " (did you mean --query?)");
  CHECK(nearest_word_hint("nothing", known).empty());
  CHECK(nearest_word_hint("query", known).empty());  // it is known, and something else is wrong
}

}  // namespace
}  // namespace bloomgate
