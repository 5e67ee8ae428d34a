#include "filter/base/json.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

std::string levels(std::size_t count) {
  return std::string(count, '[') + std::string(count, ']');
}

TEST_CASE("a value is read by its key and its kind, and a value of another kind is not there") {
  const Json read = Json::parse(R"({"n":-1,"u":18446744073709551615,"f":2.5,"t":"ä","yes":true,"no":false,
                                    "list":["a",1,null],"in":{"x":{"y":"z"}}})");
  CHECK(read.at("n").number() == -1);
  CHECK(read.at("u").number() == 18446744073709551615.0);
  CHECK(read.at("f").number() == 2.5);
  CHECK(read.at("t").text() == "ä");
  CHECK(read.at("yes").is_true());
  CHECK_FALSE(read.at("no").is_true());
  CHECK(read.at("list").is_array());
  REQUIRE(read.at("list").elements().size() == 3);
  CHECK(read.at("list").elements()[0].text() == "a");
  CHECK(read.at("in").at("x").at("y").text() == "z");
  REQUIRE(read.members().size() == 8);
  CHECK(read.members()[7].first == "in");

  for (const Json* none : {&read.at("absent"), &read.at("absent").at("x"), &read.at("t").at("x")}) {
    CHECK_FALSE(none->number());
    CHECK_FALSE(none->text());
    CHECK_FALSE(none->is_true());
    CHECK_FALSE(none->is_array());
    CHECK(none->elements().empty());
    CHECK(none->members().empty());
  }
  CHECK_FALSE(read.at("t").number());
  CHECK_FALSE(read.at("n").text());
  CHECK_FALSE(read.at("n").is_true());
  CHECK(read.at("in").elements().empty());
  CHECK(read.at("list").members().empty());
}

TEST_CASE("if an object has a key twice, the last value counts") {
  CHECK(Json::parse(R"({"a":1,"b":2,"a":3})").at("a").number() == 3);
}

TEST_CASE("a text that was read is written unchanged") {
  for (const char* text : {"null", "true", "-1", "2.5", R"("ä")", "[]", "{}", R"([1,[],{"b":{},"a":[null]}])"}) {
    CHECK(Json::parse(text).dump(-1) == text);
  }
}

TEST_CASE("a value is made of pairs as an object and of others as an array, and grows by its keys and elements") {
  Json json = {{"a", 1}, {"b", Json::array()}, {"c", Json::object()}};
  json["a"] = 18446744073709551615U;
  json["new"]["in"] = true;
  json["b"].push_back("x");
  json["b"].push_back({1, "y"});
  json["made"].push_back(nullptr);
  json["c"].update({{"d", 2.5}, {"e", {"f", "g"}}});
  json["c"].update({{"d", -1}});
  CHECK(json.dump(-1) == R"({"a":18446744073709551615,"b":["x",[1,"y"]],"c":{"d":-1,"e":["f","g"]},)"
                         R"("new":{"in":true},"made":[null]})");
  CHECK(Json{{"a", 1}, {2, 3}}.dump(-1) == R"([["a",1],[2,3]])");
  CHECK(Json{{"a", 1, 2}}.dump(-1) == R"([["a",1,2]])");
  CHECK(Json{{"a", {{"b", false}}}}.dump(2) == "{\n  \"a\": {\n    \"b\": false\n  }\n}");
  CHECK(Json("\xff"
             "a")
            .dump(-1) ==
        "\"\ufffd"
        "a\"");
}

TEST_CASE("an invalid text, or one with too many levels, is refused with the reason") {
  for (const std::string text :
       {"", " ", "{", "[1", "[1]]", "{1:2}", "nul", "1e999", "\"\xff\"", "'a'", "[1,]", "{} {}", "{}}"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(Json::parse(text), "is not JSON");
  }
  CHECK_THROWS_WITH(Json::parse(std::string("{}\0{}", 5)), "is not JSON");
  CHECK(Json::parse(levels(Json::kMaxDepth)).is_array());
  CHECK_THROWS_WITH(Json::parse(levels(Json::kMaxDepth + 1)), "is nested too deeply");
  CHECK_THROWS_WITH(Json::parse(std::string(1'000'000, '[')), "is nested too deeply");
}

}  // namespace
}  // namespace bloomgate::test
