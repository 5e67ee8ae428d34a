// What proves a sender, and who could make the same bytes: the table of every way to `deliver`, each with its attacks.
// The attacker is a neighbour: he has an account at the same provider, or is a customer of the same service, and sends
// one message that is genuinely signed again, as he likes.
#include "tests/milter/policy/decision_parts.hpp"

namespace bloomgate {
namespace {

using test::Row;
using test::World;

// With the defaults that an operator gets, but for what is named.
World world(Policy policy = {}) {
  return World(std::move(policy), {}, "pat@extra.example\n@.extra.example\n", policy.spf_proves);
}

TEST_CASE("decide: a listed mailbox as envelope sender is proven only by the same From mailbox") {
  const Row rows[] = {
      {"From is the same mailbox, and its domain signed.", "joe@example.org", "joe@example.org",
       "dkim=pass header.d=example.org", "deliver listed envelope dkim @main"},
      {"A neighbour's signed message, sent again with the envelope sender of a listed one.", "joe@example.org",
       "neighbour@example.org", "dkim=pass header.d=example.org", "check not-authenticated envelope @main"},
      {"The same where SPF failed for the borrowed envelope sender, and DMARC passed for the neighbour.",
       "joe@example.org", "neighbour@example.org",
       "spf=fail smtp.mailfrom=example.org; dkim=pass header.d=example.org; dmarc=pass header.from=example.org",
       "check not-authenticated envelope @main"},
      {"The address of a mailing list as envelope sender of a member's message.", "bounce@esp.example",
       "member@esp.example", "dkim=pass header.d=esp.example", "check not-authenticated envelope @main"},
      {"A borrowed envelope sender that was tagged against bounces.", "prvs=4f2a1b3c5d=joe@example.org",
       "neighbour@example.org", "dkim=pass header.d=example.org", "check not-authenticated envelope @main"},
      {"A tag against bounces on the same mailbox.", "prvs=4f2a1b3c5d=joe@example.org", "joe@example.org",
       "dkim=pass header.d=example.org", "deliver listed envelope dkim @main"},
      {"A tag that the list takes off, on the same mailbox.", "pat+news@partner.example", "pat@partner.example",
       "dkim=pass header.d=partner.example", "deliver listed envelope dkim @partners"},
      {"A tag that the list takes off, on a neighbour's.", "pat+news@partner.example", "eve+news@partner.example",
       "dkim=pass header.d=partner.example", "check not-authenticated envelope @partners"},
      {"The same mailbox, unsigned.", "joe@example.org", "joe@example.org", "",
       "check not-authenticated envelope @main"},
      {"The same mailbox, signed by another domain.", "joe@example.org", "joe@example.org",
       "dkim=pass header.d=evil.example", "check not-authenticated envelope @main"},
      {"Ordinary forwarding breaks SPF, and leaves the signature.", "joe@example.org", "joe@example.org",
       "spf=fail smtp.mailfrom=example.org; dkim=pass header.d=example.org", "deliver listed envelope dkim @main"},
      {"SPF proves a domain, which a neighbour passes as well.", "joe@example.org", "joe@example.org",
       "spf=pass smtp.mailfrom=example.org", "check not-authenticated envelope @main"},
      {"So does DMARC where it rests on SPF.", "joe@example.org", "joe@example.org",
       "spf=pass smtp.mailfrom=example.org; dmarc=pass header.from=example.org",
       "check not-authenticated envelope @main"},
      {"The operator's own list is no different.", "pat@extra.example", "neighbour@other.example",
       "dkim=pass header.d=extra.example", "check not-authenticated envelope @extra"},
      {"A mailbox whose domain is listed, too, is as good as its domain.", "pat@extra.example", "eve@extra.example",
       "dkim=pass header.d=extra.example", "deliver listed-extra envelope dkim @extra by @.extra.example"},
  };
  world().expect(rows);
}

TEST_CASE("decide: a listed domain of the envelope sender is proven by SPF, or by its signature and a covered From") {
  const Row rows[] = {
      {"SPF.", "any@corp.example", "x@other.example", "spf=pass smtp.mailfrom=corp.example",
       "deliver listed-domain envelope spf @main by @corp.example"},
      {"The domain's signature, and From is of the entry, too.", "any@corp.example", "else@corp.example",
       "dkim=pass header.d=corp.example", "deliver listed-domain envelope dkim @main by @corp.example"},
      {"A customer of the service writes somebody else into From.", "b-1@lists.example", "ceo@bank.example",
       "dkim=pass header.d=lists.example", "check not-authenticated envelope @main by @lists.example"},
      {"A tree has both, and the envelope sender's domain signed.", "x@a.tree.example", "y@b.tree.example",
       "dkim=pass header.d=a.tree.example", "deliver listed-domain-tree envelope dkim @main by @.tree.example"},
      {"A tree has both, and another domain in it signed.", "x@a.tree.example", "y@b.tree.example",
       "dkim=pass header.d=c.tree.example", "check not-authenticated envelope @main by @.tree.example"},
      {"SPF failed, so the signature of the domain does not prove the envelope sender.", "any@corp.example",
       "else@corp.example", "spf=fail smtp.mailfrom=corp.example; dkim=pass header.d=corp.example",
       "deliver listed-domain header-from dkim @main by @corp.example"},
      {"SPF softly failed, and From is of another entry.", "x@a.tree.example", "any@corp.example",
       "spf=softfail smtp.mailfrom=a.tree.example; dkim=pass header.d=a.tree.example",
       "check not-authenticated envelope @main by @.tree.example"},
      {"Nothing.", "any@corp.example", "else@corp.example", "",
       "check not-authenticated envelope @main by @corp.example"},
  };
  world().expect(rows);
  const Row with_fail[] = {
      {"SPF failed.", "any@corp.example", "else@corp.example",
       "spf=fail smtp.mailfrom=corp.example; dkim=pass header.d=corp.example",
       "check not-authenticated envelope @main by @corp.example"},
      {"SPF failed, and From is the same mailbox.", "any@corp.example", "any@corp.example",
       "spf=fail smtp.mailfrom=corp.example; dkim=pass header.d=corp.example",
       "deliver listed-domain envelope dkim @main by @corp.example"},
      {"SPF passed in one field and failed in another.", "any@corp.example", "else@corp.example",
       "spf=pass smtp.mailfrom=corp.example | spf=fail smtp.mailfrom=corp.example; dkim=pass header.d=corp.example",
       "check not-authenticated envelope @main by @corp.example"},
  };
  world({.identity = IdentityRule::envelope}).expect(with_fail);
}

TEST_CASE("decide: the operator chooses what an SPF pass proves") {
  struct Case {
    std::string_view envelope, from, address, domain, no;
  };
  const Case cases[] = {
      {"joe@example.org", "x@other.example", "deliver listed envelope spf @main",
       "check not-authenticated envelope @main", "check not-authenticated envelope @main"},
      {"any@corp.example", "x@other.example", "deliver listed-domain envelope spf @main by @corp.example",
       "deliver listed-domain envelope spf @main by @corp.example",
       "check not-authenticated envelope @main by @corp.example"},
      {"x@example.org", "joe@example.org", "deliver listed header-from spf @main",
       "check not-authenticated header-from @main", "check not-authenticated header-from @main"},
  };
  for (const Case& each : cases) {
    const std::string domain(each.envelope.substr(each.envelope.find('@') + 1));
    const std::string spf = "spf=pass smtp.mailfrom=" + domain;
    const auto expect = [&](SpfProves proves, std::string_view want) {
      const Row row = {"", each.envelope, each.from, spf, want};
      world({.spf_proves = proves}).expect({&row, 1});
    };
    expect(SpfProves::address, each.address);
    expect(SpfProves::domain, each.domain);
    expect(SpfProves::no, each.no);
  }
}

TEST_CASE("decide: a domain or one above it may sign; a child or a sibling may sign only by DMARC's rule") {
  struct Case {
    std::string_view from, results;
    bool parent, strict, relaxed;
  };
  const Case cases[] = {
      {"joe@example.org", "dkim=pass header.d=example.org", true, true, true},
      {"any@a.tree.example", "dkim=pass header.d=tree.example", true, false, true},
      {"any@a.tree.example", "dkim=pass header.d=example", false, false, false},
      {"joe@example.org", "dkim=pass header.d=student.example.org", false, false, false},
      {"any@a.tree.example", "dkim=pass header.d=b.tree.example", false, false, false},
      {"joe@example.org", "dkim=pass header.d=student.example.org; dmarc=pass header.from=example.org", false, false,
       true},
      {"any@a.tree.example", "dkim=pass header.d=b.tree.example; dmarc=pass header.from=a.tree.example", false, false,
       true},
      {"joe@example.org", "dmarc=pass header.from=example.org", false, false, true},
      {"joe@example.org", "dkim=pass header.d=example.org; dmarc=pass header.from=example.org", true, true, true},
  };
  for (const Case& each : cases) {
    INFO(each.from << ", " << each.results);
    const Row row = {"", "x@other.example", each.from, each.results, ""};
    CHECK((world().decide(row).verdict == Verdict::deliver) == each.parent);
    CHECK((world({.alignment = Alignment::strict}).decide(row).verdict == Verdict::deliver) == each.strict);
    CHECK((world({.alignment = Alignment::relaxed}).decide(row).verdict == Verdict::deliver) == each.relaxed);
  }
}

TEST_CASE("decide: no rule delivers a null sender") {
  for (const auto identity :
       {IdentityRule::envelope, IdentityRule::header_from, IdentityRule::either, IdentityRule::both}) {
    for (const auto authentication :
         {AuthenticationRule::required, AuthenticationRule::preferred, AuthenticationRule::off}) {
      const Row row = {"", "", "joe@example.org", "dkim=pass header.d=example.org", "check null-sender envelope"};
      world({.identity = identity, .authentication = authentication}).expect({&row, 1});
    }
  }
}

TEST_CASE("decide: the decision says by which bytes a sender was proven") {
  const auto proof_of = [](std::string_view envelope, std::string_view from, std::string_view results) {
    return proof_name(world().decide(Row{"", envelope, from, results, ""}).proof);
  };
  CHECK(proof_of("joe@example.org", "joe@example.org", "dkim=pass header.d=example.org") == "same-from");
  CHECK(proof_of("x@other.example", "joe@example.org", "dkim=pass header.d=example.org") == "from");
  CHECK(proof_of("any@corp.example", "x@other.example", "spf=pass smtp.mailfrom=corp.example") == "envelope");
  CHECK(proof_of("any@corp.example", "b@corp.example", "dkim=pass header.d=corp.example") == "covered-from");
  CHECK(proof_of("joe@example.org", "x@other.example", "dkim=pass header.d=example.org") == "none");
}

}  // namespace
}  // namespace bloomgate
