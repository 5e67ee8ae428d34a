// The test framework, by the names that our tests use. Debian 12 has Catch2 2, one header; Debian 13 has Catch2 3,
// where the matchers of strings and the approximate comparison have moved. Every test includes this header and no other
// of Catch2.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)

#include <catch2/catch_all.hpp>
#include <string>
#include <utility>

using Catch::Approx;

namespace Catch {

using Matchers::EndsWith;
using Matchers::Equals;
using Matchers::Matches;
using Matchers::StartsWith;
using Matchers::VectorContains;

inline auto Contains(std::string part) {
  return Matchers::ContainsSubstring(std::move(part));
}

}  // namespace Catch

#else

#include <catch2/catch.hpp>

#endif

namespace bloomgate::test {

using Catch::Contains;
using Catch::EndsWith;
using Catch::Matches;
using Catch::StartsWith;

}  // namespace bloomgate::test
