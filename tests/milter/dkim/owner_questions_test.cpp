// Whether a domain's owner lets other domains of the organisation sign, with real signatures and records that
// libunbound has of its own.
#include "milter/dkim/owner_questions.hpp"

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "milter/dkim/library_verifier.hpp"
#include "milter/dkim/tree_walk.hpp"
#include "tests/milter/dkim/signing.hpp"
#include "tests/milter/dkim/verifying.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/local_name_server.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using test::kBody;

constexpr std::string_view kSender = "shop.example.org";
constexpr std::string_view kChild = "mg.shop.example.org";  // of the sender's domain

constexpr std::string_view kPrefix = "_dmarc.";

std::string dmarc(std::string_view domain, std::string_view text) {
  return std::string(kPrefix) + std::string(domain) + ". 3600 IN TXT \"" + std::string(text) + "\"";
}

// The name exists, and has no TXT record.
std::string no_dmarc(std::string_view domain) {
  return std::string(kPrefix) + std::string(domain) + ". 3600 IN A 192.0.2.1";
}

struct Signed {
  std::vector<std::string_view> signers = {kChild};
  Alignment alignment = Alignment::relaxed;
  std::vector<std::string> senders = {std::string(kSender)};  // the wanted domains
  std::string body = kBody;                                   // as it comes
  std::vector<std::string> failing = {};                      // domains whose name servers fail
};

// The names of the walks, but for those that have a record, or that fail, exist without one.
void add_missing(std::vector<std::string>& records, const Signed& how) {
  std::vector<std::string_view> domains(how.signers.begin(), how.signers.end());
  domains.insert(domains.end(), how.senders.begin(), how.senders.end());
  std::set<std::string> known(how.failing.begin(), how.failing.end());
  for (const std::string& record : records)
    known.insert(record.substr(kPrefix.size(), record.find(". ") - kPrefix.size()));
  for (const std::string_view domain : domains) {
    for (const std::string_view name : walk_names(domain)) {
      if (known.insert(std::string(name)).second) records.push_back(no_dmarc(name));
    }
  }
}

// A message of the sender, signed by each of the signers, where a name server has these records and the signers' keys.
Signatures found(std::vector<std::string> records, const Signed& how = {}) {
  add_missing(records, how);
  std::vector<std::string> header = {"From: joe@shop.example.org", "To: ann@example.net", "Subject: test"};
  for (const std::string_view signer : how.signers) {
    header = test::sign(header, kBody, std::string(signer)).header;
    records.push_back(test::key_record(std::string(signer)));
  }
  ResolverOptions options = test::records(records);
  test::LocalNameServer server;
  server.set(test::LocalNameServer::Mode::fails);
  if (!how.failing.empty()) options.servers = {server.address()};
  Resolver resolver(options);
  LibraryVerifier verifier({.alignment = how.alignment, .dns_timeout = 30s}, resolver);
  const std::vector<std::string_view> fields(header.begin(), header.end());
  VerifyRequest request = {.header = fields};
  for (std::size_t index = 0; index < how.senders.size(); ++index)
    request.need.domains[index].append(how.senders[index]);
  const auto verification = verifier.begin(request);
  verification->add_body(how.body);
  return verification->finish();
}

// What is told of the sender.
std::string told(const std::vector<std::string>& records, const Signed& how = {}) {
  const Signatures signatures = found(records, how);
  const SignatureOutcome outcome = signatures.outcome_for(kSender, how.alignment);
  CHECK(signatures.pass_for(kSender, how.alignment) == (outcome == SignatureOutcome::pass));
  return std::string(signature_outcome_name(outcome));
}

constexpr std::string_view kStrict = "v=DMARC1; p=none; adkim=s";
constexpr std::string_view kRelaxed = "v=DMARC1; p=none; adkim=r";
constexpr std::string_view kOwn = "v=DMARC1; p=none; psd=n";     // an organisation of its own
constexpr std::string_view kSuffix = "v=DMARC1; p=none; psd=y";  // each name below is one

TEST_CASE(
    "the DMARC record of the domain, or else of its organisational domain, says whether another domain may sign") {
  struct Case {
    std::string_view sentence;
    std::vector<std::string> records;
    std::string_view want;
  };
  const std::string at_domain(kSender), at_organization = "example.org";
  const Case cases[] = {
      {"the domain forbids it", {dmarc(at_domain, kStrict), no_dmarc(at_organization)}, "other-domain-not-allowed"},
      {"the domain allows it", {dmarc(at_domain, kRelaxed), no_dmarc(at_organization)}, "pass"},
      {"the domain does not say", {dmarc(at_domain, "v=DMARC1; p=none"), dmarc(at_organization, kStrict)}, "pass"},
      {"the domain allows what its organisation forbids",
       {dmarc(at_domain, kRelaxed), dmarc(at_organization, kStrict)},
       "pass"},
      {"the domain forbids what its organisation allows",
       {dmarc(at_domain, kStrict), dmarc(at_organization, kRelaxed)},
       "other-domain-not-allowed"},
      {"the organisation forbids it",
       {no_dmarc(at_domain), dmarc(at_organization, kStrict)},
       "other-domain-not-allowed"},
      {"the organisation allows it", {no_dmarc(at_domain), dmarc(at_organization, kRelaxed)}, "pass"},
      {"neither has a record", {no_dmarc(at_domain), no_dmarc(at_organization)}, "pass"},
      {"another record is at the domain",
       {dmarc(at_domain, "v=spf1 -all"), dmarc(at_organization, kStrict)},
       "other-domain-not-allowed"},
      {"other records are at both", {dmarc(at_domain, "v=spf1 -all"), dmarc(at_organization, "x")}, "pass"},
  };
  for (const Case& c : cases) {
    INFO(c.sentence);
    CHECK(told(c.records) == c.want);
  }
}

TEST_CASE("if the owner's wish cannot be read, another domain's signature does not count") {
  const std::string domain(kSender), organization = "example.org";
  const std::string long_text = "v=DMARC1; p=none; rua=mailto:";
  std::string too_long = dmarc(domain, long_text);
  for (int i = 0; i < 5; ++i) too_long += " \"" + std::string(250, 'a') + "\"";
  const std::string unreadable[] = {
      dmarc(domain, "v=DMARC1; adkim=x"),
      dmarc(domain, "v=DMARC1; adkim=r; adkim=r"),
      dmarc(domain, "v=DMARC1; p=\\195\\164"),
      too_long,
  };
  for (const std::string& record : unreadable) {
    INFO(record);
    CHECK(told({record, dmarc(organization, kRelaxed)}) == "other-domain-not-allowed");
    CHECK(told({record, dmarc(organization, kRelaxed)}, {.signers = {kSender}}) == "pass");
  }
  CHECK(told({dmarc(domain, kRelaxed), dmarc(domain, "v=spf1 -all"), dmarc(organization, kRelaxed)}) ==
        "other-domain-not-allowed");
}

TEST_CASE("if a name server fails where a record could decide, another domain's signature does not count") {
  struct Case {
    std::string_view sentence;
    std::vector<std::string> records;
    std::string failing;
    std::string_view want;
  };
  const std::string domain(kSender), organization = "example.org", signer(kChild), top = "org";
  const Case cases[] = {
      {"the domain's own", {dmarc(organization, kRelaxed)}, domain, "name-server-failed"},
      {"the organisation's", {no_dmarc(domain)}, organization, "name-server-failed"},
      {"the organisation's, and the domain allows it", {dmarc(domain, kRelaxed)}, organization, "name-server-failed"},
      {"the registry's", {dmarc(organization, kRelaxed)}, top, "name-server-failed"},
      {"the signer's", {dmarc(organization, kRelaxed)}, signer, "name-server-failed"},
      {"the signer's, and the domain forbids it", {dmarc(domain, kStrict)}, signer, "other-domain-not-allowed"},
      {"that of a name above psd=n", {dmarc(domain, kOwn)}, organization, "pass"},
      {"the registry's, above psd=n", {dmarc(organization, kOwn)}, top, "pass"},
  };
  for (const Case& c : cases) {
    INFO(c.sentence);
    CHECK(told(c.records, {.failing = {c.failing}}) == c.want);
    CHECK(told(c.records, {.signers = {kSender}, .failing = {c.failing}}) == "pass");
  }
}

TEST_CASE("a signer above the domain or beside it counts if both walks end in one organisation") {
  for (const std::string_view signer : {"example.org", "news.example.org"}) {
    INFO(signer);
    const Signed how = {.signers = {signer}};
    CHECK(told({}, how) == "pass");
    CHECK(told({dmarc("example.org", kRelaxed)}, how) == "pass");
    CHECK(told({dmarc(kSender, kRelaxed), dmarc("example.org", kRelaxed)}, how) == "pass");
    CHECK(told({dmarc(kSender, kRelaxed), dmarc("example.org", kOwn)}, how) == "pass");
    CHECK(told({dmarc(kSender, kStrict), dmarc("example.org", kRelaxed)}, how) == "other-domain-not-allowed");
    // Only the domain itself has a record, so it is an organisation of its own (RFC 9989 section 4.10.2).
    CHECK(told({dmarc(kSender, kRelaxed)}, how) == "other-domain-not-allowed");
    CHECK(told({dmarc(kSender, kOwn), dmarc("example.org", kRelaxed)}, how) == "other-domain-not-allowed");
    CHECK(told({dmarc("example.org", kSuffix)}, how) == "other-domain-not-allowed");
  }
}

TEST_CASE("a signer below the domain belongs to another organisation if a record says so") {
  CHECK(told({dmarc(kChild, kRelaxed), dmarc(kSender, kRelaxed)}) == "pass");
  CHECK(told({dmarc(kChild, kOwn), dmarc(kSender, kRelaxed)}) == "other-domain-not-allowed");
  CHECK(told({dmarc(kSender, kSuffix)}) == "other-domain-not-allowed");
  CHECK(told({dmarc(kChild, kRelaxed)}) == "other-domain-not-allowed");  // without one of its own above
  CHECK(told({dmarc(kChild, "v=DMARC1; psd=x"), dmarc(kSender, kRelaxed)}) == "other-domain-not-allowed");
}

TEST_CASE("a domain that is its own organisational domain has one record") {
  const Signed how = {.signers = {kChild}, .senders = {"example.org"}};
  const auto outcome = [&](const std::vector<std::string>& records) {
    return found(records, how).outcome_for("example.org", Alignment::relaxed);
  };
  CHECK(outcome({dmarc("example.org", kStrict)}) == SignatureOutcome::other_domain_not_allowed);
  CHECK(outcome({dmarc("example.org", kRelaxed)}) == SignatureOutcome::pass);
  CHECK(outcome({no_dmarc("example.org")}) == SignatureOutcome::pass);
}

TEST_CASE("no owner is asked if no signature of another domain matters") {
  const std::vector<std::string> strict = {dmarc(kSender, kStrict), dmarc("example.org", kStrict)};
  const auto rules = [&](const Signed& how) { return found(strict, how).owner_rules; };
  CHECK(rules({.signers = {kChild}}) == std::vector<OwnerRule>{{std::string(kSender), std::string(kChild),
                                                                SignatureOutcome::other_domain_not_allowed}});
  CHECK(rules({.signers = {kChild, kChild}}).size() == 1);
  CHECK(rules({.signers = {kSender}}).empty());
  CHECK(rules({.signers = {kSender, kChild}}).empty());
  CHECK(rules({.signers = {kChild}, .body = "Hullo.\r\n"}).empty());
  CHECK(rules({.signers = {"example.org"}, .alignment = Alignment::parent}).empty());
  CHECK(told(strict, {.signers = {kSender}}) == "pass");
  CHECK(told(strict, {.signers = {kSender, kChild}}) == "pass");
  CHECK(told(strict, {.signers = {kChild, kSender}}) == "pass");
  CHECK(told(strict, {.signers = {"example.org"}, .alignment = Alignment::parent}) == "pass");
  CHECK(told(strict, {.signers = {kChild}, .body = "Hullo.\r\n"}) == "body-changed");
}

TEST_CASE("each of two senders has its own owner's rule") {
  const std::vector<std::string> records = {dmarc("a.example.org", kStrict), dmarc("b.example.org", kRelaxed),
                                            dmarc("example.org", kRelaxed)};
  const Signatures signatures =
      found(records, {.signers = {"c.example.org"}, .senders = {"a.example.org", "b.example.org"}});
  CHECK(signatures.owner_rules ==
        std::vector<OwnerRule>{{"a.example.org", "c.example.org", SignatureOutcome::other_domain_not_allowed},
                               {"b.example.org", "c.example.org", SignatureOutcome::pass}});
  CHECK_FALSE(signatures.pass_for("a.example.org", Alignment::relaxed));
  CHECK(signatures.pass_for("b.example.org", Alignment::relaxed));
}

TEST_CASE("each of two signers has its own rule for the domain") {
  const Signatures signatures = found({dmarc("example.org", kRelaxed), dmarc("own.example.org", kOwn)},
                                      {.signers = {"own.example.org", "news.example.org"}});
  const std::string domain(kSender);
  // The message was signed by the first one first, so the second one's field stands above.
  CHECK(signatures.owner_rules ==
        std::vector<OwnerRule>{{domain, "news.example.org", SignatureOutcome::pass},
                               {domain, "own.example.org", SignatureOutcome::other_domain_not_allowed}});
  CHECK(signatures.pass_for(kSender, Alignment::relaxed));
}

}  // namespace
}  // namespace bloomgate
