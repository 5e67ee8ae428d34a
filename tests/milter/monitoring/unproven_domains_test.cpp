#include "milter/monitoring/unproven_domains.hpp"

#include <atomic>

#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("sessions note unproven domains while the page shows them, and none gets another's figures") {
  UnprovenDomains unproven;
  std::atomic<int> wrong = 0;
  test::at_once(4, [&](int thread) {
    Decision decision = {
        .verdict = Verdict::check, .reason = Reason::not_authenticated, .identity = IdentityKind::envelope};
    decision.list.append("wl");
    for (int i = 0; i < 1000; ++i) {
      const std::string sender = "joe@d" + std::to_string(i % 300) + ".example";
      unproven.note({.envelope_sender = sender}, decision);
      if (i % 100 != thread) continue;
      for (const UnprovenDomain& each : unproven.all()) {
        wrong += each.domain.starts_with("d") && each.domain.ends_with(".example") && each.messages <= 4000 ? 0 : 1;
      }
      if (i > 900) unproven.begin_again();
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("among many proven domains none is reported as unproven") {
  UnprovenDomains domains;
  const auto note = [&](int number, const Decision& decision) {
    const std::string sender = "joe@d" + std::to_string(number) + ".example";
    domains.note({.envelope_sender = sender}, decision);
  };
  const Decision proven = {.verdict = Verdict::deliver,
                           .reason = Reason::listed,
                           .identity = IdentityKind::envelope,
                           .method = AuthenticationMethod::spf};
  Decision unproven = {
      .verdict = Verdict::check, .reason = Reason::not_authenticated, .identity = IdentityKind::envelope};
  unproven.list.append("wl");
  constexpr int kMany = 10'000;
  for (int number = 0; number < kMany; ++number) note(number, proven);
  for (int number = 0; number <= kMany; ++number) {
    for (std::uint64_t i = 0; i < UnprovenDomains::kFewest; ++i) note(number, unproven);
  }
  REQUIRE(domains.all().size() == 1);
  CHECK(domains.all().front().domain == "d10000.example");
}

}  // namespace
}  // namespace bloomgate
