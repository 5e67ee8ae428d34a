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

}  // namespace
}  // namespace bloomgate
