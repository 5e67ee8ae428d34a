#include "milter/policy/header_field.hpp"

#include <catch2/catch.hpp>

namespace bloomgate {
namespace {

TEST_CASE("the header's value has verdict, reason and host, in that form") {
  CHECK(header_value({Verdict::deliver, Reason::listed}, "mx.example.org") ==
        "deliver; reason=listed; host=mx.example.org");
  CHECK(header_value({Verdict::check, Reason::malformed_sender, RejectReason::invalid_utf8}, "mx") ==
        "check; reason=malformed-sender; host=mx");
  CHECK(kFallbackHeaderValue == "check; reason=internal-error");
}

TEST_CASE("a field is ours in any case, and with space before its colon, and in no other spelling") {
  for (const char* const name :
       {"X-Bloomgate", "x-bloomgate", "X-BLOOMGATE", "x-bLoOmGaTe", "X-Bloomgate ", "X-Bloomgate \t "}) {
    INFO(name);
    CHECK(is_our_header(name));
  }
  for (const char* const name : {"", " ", "X-Bloomgat", "X-Bloomgate2", "X-Bloomgate-Old", "Bloomgate", " X-Bloomgate",
                                 "X_Bloomgate", "X-Bloom gate", "X-Bloomgate:"}) {
    INFO(name);
    CHECK_FALSE(is_our_header(name));
  }
}

}  // namespace
}  // namespace bloomgate
