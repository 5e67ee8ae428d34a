#include "milter/fields/signature_name.hpp"

#include <string>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a selector is compared without its case, and is unknown if programs may write it in two ways") {
  CHECK(canonical_selector("S1._X.News") == "s1._x.news");
  CHECK(canonical_selector("20230601") == "20230601");
  CHECK(canonical_selector("s1.") == "s1");
  for (const std::string& text : {std::string(), std::string("a b"), std::string("a..b"), std::string("a@b"),
                                  std::string("m\u00fcller"), std::string("a\v"), std::string(3000, 'a')}) {
    CAPTURE(text);
    CHECK(canonical_selector(text).empty());
  }
}

TEST_CASE("the start of a signature is what all readers of base64 see") {
  CHECK(signature_start("abC/+d8Z") == "abC/+d8Z");
  CHECK(signature_start(" a b\r\n\tC/\n +d8Z ") == "abC/+d8Z");
  CHECK(signature_start(std::string(31, 'x') + "yz") == std::string(31, 'x') + "y");
  CHECK(signature_start(std::string(32, 'x') + "*\v==") == std::string(32, 'x'));
  for (const std::string_view text : {"", "abC/+d8", "a b C / + d 8", "abC/+d8Z=", "=abC/+d8Z", "abC/+d8Z\v",
                                      "abC/+d8Z\x01", "(abC/+d8Z", "abC-_d8Z", "abC/+d8Z\u00fc"}) {
    CAPTURE(text);
    CHECK(signature_start(text).empty());
  }
}

TEST_CASE("a signature name matches every signature that it does not contradict") {
  const SignatureName signature = {"s1", "abcdefghijkl"};
  CHECK(can_mean({}, signature));
  CHECK(can_mean({"s1", ""}, signature));
  CHECK(can_mean({"", "abcdefgh"}, signature));
  CHECK(can_mean({"s1", "abcdefghijkl"}, signature));
  CHECK_FALSE(can_mean({"s2", ""}, signature));
  CHECK_FALSE(can_mean({"s2", "abcdefgh"}, signature));
  CHECK_FALSE(can_mean({"s1", "abcdefgH"}, signature));
  CHECK_FALSE(can_mean({"", "abcdefghijklm"}, signature));
  CHECK_FALSE(can_mean({"", "bcdefghi"}, signature));
  CHECK(can_mean({"s2", "zzzzzzzz"}, {}));
  CHECK(can_mean({"s1", "zzzzzzzz"}, {"s1", ""}));
  CHECK(can_mean({"s2", "abcdefgh"}, {"", "abcdefghijkl"}));
}

}  // namespace
}  // namespace bloomgate
