// Texts of every length round the sizes of the buffers that hold them, in ASCII and beyond it, where a character takes
// several bytes and its canonical form has another length. AddressSanitizer sees what runs over.
#include <string>
#include <vector>

#include "filter/address/domain.hpp"
#include "milter/fields/rewritten_sender.hpp"
#include "milter/policy/explain.hpp"
#include "milter/policy/header_field.hpp"
#include "milter/policy/trace.hpp"
#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string text;
  while (text.size() + piece.size() <= bytes) text += piece;
  return text;
}

// Labels of 30 of these, or what is left, up to that many bytes together.
std::string domain_of(std::string_view letter, std::size_t bytes) {
  std::string text;
  for (std::size_t letters = 0; text.size() + letter.size() <= bytes; ++letters) {
    if (letters % 31 == 30) {
      text += '.';
    } else {
      text += letter;
    }
  }
  while (text.ends_with('.')) text.pop_back();
  return text;
}

std::vector<std::string> domains() {
  std::vector<std::string> all;
  for (const std::string_view letter : {"a", "\u00fc", "\u4e2d", "\U00010428", "\u023a", "xn--"}) {
    for (std::size_t bytes = 1; bytes < 700; bytes += bytes < 50 || (bytes > 240 && bytes < 260) ? 1 : 13) {
      all.push_back(domain_of(letter, bytes));
    }
  }
  // One label, longer than any input.
  for (const std::string_view letter : {"a", "\u00fc"}) {
    std::string label;
    while (label.size() < 60'000) label += letter;
    all.push_back(label);
    all.push_back(label + ".example");
  }
  // As long as an address literal of IPv6 can be written, and longer.
  for (std::size_t digits = 0; digits < 70; ++digits) {
    all.push_back("[IPv6:" + std::string(digits, 'f') + "]");
    all.push_back("[IPv6:0000:0000:0000:0000:0000:ffff:255.255.255.255" + std::string(digits, '0') + "]");
    all.push_back("[" + std::string(digits, '1') + "]");
  }
  return all;
}

std::string canonical(std::string_view domain) {
  Domain text;
  if (domain.size() > kMaxInputBytes || canonicalize_domain(domain, text) != RejectReason::none) return {};
  return std::string(text.view());
}

TEST_CASE("a domain of any length in results and signatures is canonical, or is not read") {
  for (const std::string& domain : domains()) {
    CAPTURE(domain.size(), domain);
    const std::string want = canonical(domain);
    REQUIRE(want.size() <= kMaxDomainBytes);
    for (const std::string_view before :
         {"dkim=pass header.d=", "dkim=pass header.i=@", "spf=pass smtp.mailfrom=joe@", "dmarc=pass header.from="}) {
      const auto field = parse_authentication_results("mx.example.net; " + std::string(before) + domain);
      if (domain.find('[') == std::string::npos) REQUIRE((field && field->results.size() == 1));
      if (field && !field->results.empty()) REQUIRE(field->results.front().domain == want);
    }
    Grounds grounds;
    grounds.begin(domain, "<joe@" + domain + ">");
    grounds.add_signature("v=1; s=1; d=" + domain);
    const HeaderFrom from = {HeaderFromKind::one_mailbox, "joe@example.org"};
    if (!want.empty() && !grounds.is_misleading(from)) {
      REQUIRE(grounds.support(AuthenticationMethod::dkim, want));
      // An address as long as that may not be one.
      const bool is_address = canonicalize_path("<joe@" + domain + ">").is_key();
      REQUIRE(grounds.support(AuthenticationMethod::spf, want) == is_address);
    }
    const std::string_view organization = organizational_domain(domain);
    REQUIRE((organization.empty() || std::string_view(domain).ends_with(organization)));
    REQUIRE_FALSE(aligned(domain, "example.org", Alignment::relaxed));
  }
}

TEST_CASE("a rewritten sender of any length is undone to a valid address, or not at all") {
  const std::vector<std::string> forwarders = {"forwarder.example", "first.example"};
  const auto check = [&](const std::string& path) {
    CAPTURE(path.size(), path);
    const RewrittenSender undone = undo_rewriting(path, forwarders);
    REQUIRE(undone.path().size() <= kMaxAddressBytes);
    REQUIRE(undone.sending_domain().size() <= kMaxDomainBytes);
    REQUIRE(undone.is_undone() == !undone.path().empty());
    const Entry entry = canonicalize_path(undone.path());
    REQUIRE((!entry.is_key() || undone.is_undone()));
  };
  std::size_t kept = 0;
  for (const std::string& domain : domains()) {
    check("<SRS0=HHHH=TT=" + domain + "=joe@forwarder.example>");
    check("<SRS1=HHHH=first.example==HHHH=TT=" + domain + "=joe@forwarder.example>");
    check("<SRS0=HHHH=TT=example.org=joe@" + domain + ">");
    check("<prvs=4f2a1b3c5d=joe@" + domain + ">");
    if (undo_rewriting("<prvs=4f2a1b3c5d=joe@" + domain + ">", {}).is_undone()) ++kept;
  }
  CHECK(kept > 100);
  for (const std::string_view letter : {"a", "\u00fc", "\u4e2d", "\U00010428", "\u023a"}) {
    for (std::size_t bytes = 1; bytes < 330; ++bytes) {
      const std::string local_part = repeated(letter, bytes);
      check("<SRS0=HHHH=TT=example.org=" + local_part + "@forwarder.example>");
      check("<prvs=4f2a1b3c5d=" + local_part + "@example.org>");
      check("<prvs=" + local_part + "=4f2a1b3c5d@example.org>");
      check("<btv1==4f2a1b3c5d==" + local_part + "@example.org>");
    }
  }
}

// A sanitizer takes ten times as long, and has most to say at the limits: 64 bytes, and 254.
bool is_far_from_limits(std::size_t bytes) {
  return test::kIsSanitized && bytes > 70 && bytes < 240;
}

TEST_CASE("senders of any length are decided, marked and explained") {
  Policy policy = {.identity = IdentityRule::either, .trusted_forwarders = {"forwarder.example"}};
  policy.own_domains = read_exact_list("@ours.example\n").list;
  const test::World world(policy, "bad@example.org\n@.trash.example\n", "vip@extra.example\n");
  std::vector<std::string> addresses;
  for (const std::string& domain : domains()) addresses.push_back("joe@" + domain);
  for (const std::string_view letter : {"a", "\u00fc", "\u4e2d", "\U00010428", "\u023a", "\"", "\\a"}) {
    for (std::size_t bytes = 1; bytes < 330; bytes += is_far_from_limits(bytes) ? 7U : 1U) {
      addresses.push_back(repeated(letter, bytes) + "@example.org");
      addresses.push_back("\"" + repeated(letter, bytes) + "\"@example.org");
    }
  }
  for (const std::string& address : addresses) {
    CAPTURE(address.size(), address);
    const std::string_view field = address;
    const HeaderFrom from = parse_header_from({&field, 1});
    const std::string path = "<" + address + ">";
    const Facts facts = {path, from, test::results("spf=pass smtp.mailfrom=" + address, path, from)};
    Trace trace;
    const Decision decision = decide(facts, world.lists(), world.policy(), &trace);
    REQUIRE(decision == world.decide(facts));
    REQUIRE(decision.verdict == Verdict::check);
    const std::string mark = header_value(decision, "mx.example.net", CheckMark::tells_why);
    REQUIRE(mark.starts_with("check; reason="));
    REQUIRE_THAT(explanation_text(trace, decision, "mx.example.net", CheckMark::tells_why),
                 Catch::Contains("decision: check reason="));
  }
}

}  // namespace
}  // namespace bloomgate
