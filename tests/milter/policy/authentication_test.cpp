#include "milter/policy/authentication.hpp"

#include <catch2/catch.hpp>
#include <vector>

namespace bloomgate {
namespace {

const std::vector<std::string> kIds = {"mx.example.net"};

Authentication summary(const std::vector<std::string_view>& values) {
  return Authentication::summarize(values, kIds);
}

TEST_CASE("a pass in a trusted field counts, one in another field does not") {
  const auto trusted = summary({"mx.example.net; dkim=pass header.d=example.org"});
  CHECK(trusted.trusted_fields() == 1);
  CHECK(trusted.dkim_aligned("example.org", Alignment::strict));
  const auto forged = summary({"mx.example.com; dkim=pass header.d=example.org"});
  CHECK(forged.trusted_fields() == 0);
  CHECK(forged.ignored_fields() == 1);
  CHECK_FALSE(forged.dkim_aligned("example.org", Alignment::relaxed));
}

}  // namespace
}  // namespace bloomgate
