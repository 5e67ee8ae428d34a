// Whether a domain's owner lets other domains of the organisation sign, with real signatures and records that
// libunbound has of its own.
#include "milter/dkim/owner_questions.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "milter/dkim/library_verifier.hpp"
#include "tests/milter/dkim/signing.hpp"
#include "tests/milter/dkim/verifying.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using test::kBody;

constexpr std::string_view kSender = "shop.example.org";
constexpr std::string_view kChild = "mg.shop.example.org";  // of the sender's domain

std::string dmarc(std::string_view domain, std::string_view text) {
  return "_dmarc." + std::string(domain) + ". 3600 IN TXT \"" + std::string(text) + "\"";
}

// The name exists, and has no TXT record.
std::string no_dmarc(std::string_view domain) {
  return "_dmarc." + std::string(domain) + ". 3600 IN A 192.0.2.1";
}

struct Signed {
  std::vector<std::string_view> signers = {kChild};
  Alignment alignment = Alignment::relaxed;
  std::vector<std::string> senders = {std::string(kSender)};  // the wanted domains
  std::string body = kBody;                                   // as it comes
};

// A message of the sender, signed by each of the signers, where a name server has these records and the signers' keys.
Signatures found(std::vector<std::string> records, const Signed& how = {}) {
  std::vector<std::string> header = {"From: joe@shop.example.org", "To: ann@example.net", "Subject: test"};
  for (const std::string_view signer : how.signers) {
    header = test::sign(header, kBody, std::string(signer)).header;
    records.push_back(test::key_record(std::string(signer)));
  }
  Resolver resolver(test::records(records));
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
  // The name server fails, for either name.
  CHECK(told({dmarc(organization, kRelaxed)}) == "name-server-failed");
  CHECK(told({no_dmarc(domain)}) == "name-server-failed");
  CHECK(told({dmarc(domain, kRelaxed)}) == "pass");  // the other name does not matter
}

TEST_CASE("an owner is asked about signers above and beside the domain, too") {
  for (const std::string_view signer : {"example.org", "news.example.org"}) {
    INFO(signer);
    CHECK(told({dmarc(kSender, kStrict), no_dmarc("example.org")}, {.signers = {signer}}) ==
          "other-domain-not-allowed");
    CHECK(told({dmarc(kSender, kRelaxed), no_dmarc("example.org")}, {.signers = {signer}}) == "pass");
  }
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

TEST_CASE("no owner has a say where no signature of another domain decides") {
  const std::vector<std::string> strict = {dmarc(kSender, kStrict), dmarc("example.org", kStrict)};
  const auto rules = [&](const Signed& how) { return found(strict, how).owner_rules; };
  CHECK(rules({.signers = {kChild}}) ==
        std::vector<OwnerRule>{{std::string(kSender), SignatureOutcome::other_domain_not_allowed}});
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

TEST_CASE("each of two senders has a rule of its own owner") {
  const std::vector<std::string> records = {dmarc("a.example.org", kStrict), dmarc("b.example.org", kRelaxed),
                                            no_dmarc("example.org")};
  const Signatures signatures =
      found(records, {.signers = {"c.example.org"}, .senders = {"a.example.org", "b.example.org"}});
  CHECK(signatures.owner_rules == std::vector<OwnerRule>{{"a.example.org", SignatureOutcome::other_domain_not_allowed},
                                                         {"b.example.org", SignatureOutcome::pass}});
  CHECK_FALSE(signatures.pass_for("a.example.org", Alignment::relaxed));
  CHECK(signatures.pass_for("b.example.org", Alignment::relaxed));
}

}  // namespace
}  // namespace bloomgate
