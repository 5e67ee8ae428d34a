#include "milter/brake/counted_sender.hpp"

#include <string>

#include "milter/policy/decide.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// "joe@example.org", or "@corp.example shared by ann@corp.example"; `list` counts as listed, without authentication.
std::string counted(std::string_view list, std::string_view envelope, std::string_view from,
                    IdentityRule identity = IdentityRule::either) {
  const ExactList extra = read_exact_list(list).list;
  const Policy policy = {.identity = identity, .authentication = AuthenticationRule::off};
  Lists lists;
  lists.extra = &extra;
  Facts facts;
  facts.envelope_sender = envelope;
  facts.header_from = {HeaderFromKind::one_mailbox, std::string(from)};
  const Decision decision = decide(facts, lists, policy);
  REQUIRE(decision.verdict == Verdict::deliver);
  const CountedSender sender = counted_sender(facts, decision, lists, policy);
  return std::string(sender.key.view()) + (sender.is_shared ? " shared by " + std::string(sender.address.view()) : "");
}

TEST_CASE("an address counts for itself, in one spelling, and without a tag") {
  CHECK(counted("joe@example.org\n", "<JOE@Example.org>", "ann@other.example") == "joe@example.org");
  CHECK(counted("joe@example.org\n", "<eve@other.example>", "Joe@example.org") == "joe@example.org");
  CHECK(counted("joe+news@example.org\n", "<joe+news@example.org>", "a@b.example") == "joe@example.org");
}

TEST_CASE("a sender that is listed by a domain counts for the domain's entry, which many senders share") {
  CHECK(counted("@corp.example\n", "<ann@corp.example>", "a@b.example") == "@corp.example shared by ann@corp.example");
  CHECK(counted("@.corp.example\n", "<a@b.example>", "ann@mail.corp.example") ==
        "@.corp.example shared by ann@mail.corp.example");
}

TEST_CASE("if both senders count, the counted one is the From mailbox") {
  CHECK(counted("joe@example.org\nann@example.org\n", "<joe@example.org>", "ann@example.org", IdentityRule::both) ==
        "ann@example.org");
}

}  // namespace
}  // namespace bloomgate
