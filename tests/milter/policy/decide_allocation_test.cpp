// A decision is made without memory of its own, so that it cannot fail for want of it.
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/milter/policy/decision_parts.hpp"

namespace {

std::atomic<unsigned long> allocations{0};

}  // namespace

// Not inlined: GCC 12 would take the malloc() of one and the delete of the other for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}

namespace bloomgate {
namespace {

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
      const unsigned long before = allocations;
      const Decision decision = world.decide(facts);
      const unsigned long after = allocations;
      INFO(sender << " " << from << ": " << test::summary(decision));
      CHECK(after == before);
    }
  }
  const unsigned long before = allocations;
  const std::string other(100, 'x');
  CHECK(allocations == before + 1);  // they are counted indeed
}

}  // namespace
}  // namespace bloomgate
