#include "filter/address/domain_tree.hpp"

#include <string>
#include <vector>

#include "address_wording.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Keys = std::vector<std::string>;

// Every key that is looked for where none is found.
Keys keys_of(std::string_view domain) {
  Keys keys;
  find_domain_tree(domain, [&](std::string_view key) {
    keys.emplace_back(key);
    return false;
  });
  return keys;
}

TEST_CASE("the look-up of trees starts at the domain itself and goes up") {
  CHECK(keys_of("a.b.example") == Keys{"@.a.b.example", "@.b.example", "@.example"});
  CHECK(keys_of("localhost") == Keys{"@.localhost"});
  CHECK(keys_of("x") == Keys{"@.x"});
  CHECK(keys_of("").empty());
}

TEST_CASE("an address literal has no parent domains") {
  CHECK(keys_of("[192.0.2.1]") == Keys{"@.[192.0.2.1]"});
  CHECK(keys_of("[ipv6:::ffff:192.0.2.1]").size() == 1);
}

TEST_CASE("the look-up of trees ends at the nearest tree, and returns it as a part of the domain") {
  const std::string domain = "a.b.example";
  int looked = 0;
  const std::string_view found = find_domain_tree(domain, [&](std::string_view key) {
    ++looked;
    return key == "@.b.example" || key == "@.example";
  });
  CHECK(found == "b.example");
  CHECK(found.data() == domain.data() + 2);
  CHECK(looked == 2);
}

TEST_CASE("the longest domain is looked up at each of its labels") {
  const std::string domain = repeated("a.", 127) + "b";
  REQUIRE(domain.size() == kMaxDomainBytes);
  const Keys keys = keys_of(domain);
  REQUIRE(keys.size() == 128);
  CHECK(keys.front() == "@." + domain);
  CHECK(keys.back() == "@.b");
}

}  // namespace
}  // namespace bloomgate
