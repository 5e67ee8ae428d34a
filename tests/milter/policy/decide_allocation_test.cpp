// A decision is made without memory of its own, so that it cannot fail for want of it.
#include <string>

#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/memory_budget.hpp"

namespace bloomgate {
namespace {

// What `work` gives; how often it allocates is in memory_budget.made afterwards.
template <typename Work>
auto counting_allocations(const Work& work) {
  test::memory_budget.start(test::MemoryBudget::kNoLimit, false);
  const test::BudgetInForce counted;
  return work();
}

TEST_CASE("decide: a decision allocates nothing for senders in ASCII") {
  Policy policy = {.identity = IdentityRule::both, .trusted_forwarders = {"forwarder.example"}};
  policy.own_domains = read_exact_list("@ours.example\n").list;
  policy.exempt_networks = {*parse_ip_network("192.0.2.0/24")};
  policy.exempt_daemons = {"ORIGINATING"};
  const test::World world(policy, "bad@example.org\n@.trash.example\n", "vip@extra.example\n");
  const std::string results = "spf=pass smtp.mailfrom=forwarder.example; dkim=pass header.d=example.org";
  for (const std::string_view sender : {"<joe@example.org>", "<prvs=4f2a1b3c5d=Joe+x@example.org>", "<>", "<malformed>",
                                        "<SRS0=HHHH=TT=example.org=joe@forwarder.example>", "<any@a.b.tree.example>"}) {
    for (const std::string_view from : {"Joe@Example.org", "pat+tag@partner.example", "!absent", "x@a.b.c.d.example"}) {
      const HeaderFrom parsed = test::header_from(from);
      const Facts facts = {sender,
                           parsed,
                           test::results(results, sender, parsed),
                           {.client = parse_ip_address("198.51.100.7"), .daemon_name = "smtpd"}};
      const Decision decision = counting_allocations([&] { return world.decide(facts); });
      INFO(sender << " " << from << ": " << test::summary(decision));
      CHECK(test::memory_budget.made == 0);
    }
  }
  counting_allocations([] { return std::string(100, 'x'); });
  CHECK(test::memory_budget.made == 1);  // they are counted indeed
}

}  // namespace
}  // namespace bloomgate
