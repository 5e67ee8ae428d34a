// Every combination of the facts that a decision on a sender rests on, and what decide() makes of it: a line for each
// message, with a letter for each policy. rules_test.py holds it against the rules, which it states by itself.
#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/milter/policy/decision_parts.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kEnvelopes[] = {"",
                                           "malformed",
                                           "joe@a.example",
                                           "prvs=4f2a1b3c5d=joe@a.example",
                                           "neighbour@a.example",
                                           "any@corp.example",
                                           "any@x.tree.example",
                                           "SRS0=HHHH=TT=a.example=joe@fwd.example",
                                           "x@other.example"};
constexpr std::string_view kFroms[] = {"!absent",          "joe@a.example",     "neighbour@a.example",
                                       "any@corp.example", "else@corp.example", "any@y.tree.example",
                                       "x@other.example"};
constexpr std::string_view kSigners[] = {"",
                                         "a.example",
                                         "child.a.example",
                                         "corp.example",
                                         "x.tree.example",
                                         "tree.example",
                                         "fwd.example",
                                         "other.example"};
constexpr std::string_view kFindings[] = {"", "pass", "fail"};
// The senders whose owners let another domain sign.
constexpr std::string_view kAllowing[] = {"", "envelope", "from", "both"};

struct State {
  std::string_view envelope, from, spf, signer, dmarc;
  bool own_verifier, arc;
  std::string_view allowing;
};

std::string_view domain_of(std::string_view address) {
  return address.find('@') == std::string_view::npos ? "" : address.substr(address.find('@') + 1);
}

// What our own verifier has found. The envelope sender is the one behind the forwarder.
Signatures signatures_of(const State& state) {
  Signatures signatures;
  if (state.signer.empty()) return signatures;
  signatures.all.push_back({.outcome = SignatureOutcome::pass, .domain = std::string(state.signer)});
  const std::string_view envelope = state.envelope.starts_with("SRS0=") ? "a.example" : domain_of(state.envelope);
  const std::string_view from = domain_of(state.from);
  const auto allows = [&](std::string_view domain) {
    return (domain == envelope && (state.allowing == "envelope" || state.allowing == "both")) ||
           (domain == from && (state.allowing == "from" || state.allowing == "both"));
  };
  for (const std::string_view domain : {envelope, from}) {
    const auto outcome = allows(domain) ? SignatureOutcome::pass : SignatureOutcome::other_domain_not_allowed;
    if (!domain.empty()) signatures.owner_rules.push_back({std::string(domain), std::string(state.signer), outcome});
  }
  return signatures;
}

Facts facts_of(const State& state, const std::string& path) {
  std::string results = "none";
  const auto add = [&](std::string_view method, std::string_view finding, std::string_view property,
                       std::string_view domain) {
    if (finding.empty() || domain.empty()) return;
    results.append(" | ").append(method).append("=").append(finding).append(" ").append(property).append(domain);
  };
  add("spf", state.spf, "smtp.mailfrom=", domain_of(state.envelope));
  if (!state.own_verifier) add("dkim", state.signer.empty() ? "" : "pass", "header.d=", state.signer);
  add("dmarc", state.dmarc, "header.from=", domain_of(state.from));
  if (state.arc) results += " | arc=pass";
  const HeaderFrom from = test::header_from(state.from);
  Facts facts = {.envelope_sender = path, .header_from = from};
  // Without a word on whether a message has grounds for what trusted fields say, which other tests show.
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin != std::string::npos;) {
    const std::size_t end = results.find(" | ", begin);
    fields.push_back("mx.example.net; " + results.substr(begin, end == std::string::npos ? end : end - begin));
    begin = end == std::string::npos ? end : end + 3;
  }
  const std::vector<std::string_view> views(fields.begin(), fields.end());
  const std::string trusted[] = {"mx.example.net"};
  facts.authentication = Authentication::summarize(views, trusted);
  if (state.own_verifier) facts.signatures = signatures_of(state);
  return facts;
}

std::vector<Policy> all_policies() {
  std::vector<Policy> policies;
  for (const auto identity :
       {IdentityRule::envelope, IdentityRule::header_from, IdentityRule::either, IdentityRule::both}) {
    for (const auto authentication : {AuthenticationRule::required, AuthenticationRule::preferred}) {
      for (const auto alignment : {Alignment::parent, Alignment::strict, Alignment::relaxed}) {
        for (const auto spf_proves : {SpfProves::domain, SpfProves::address, SpfProves::no}) {
          policies.push_back({.identity = identity,
                              .authentication = authentication,
                              .alignment = alignment,
                              .spf_proves = spf_proves,
                              .trust_arc = true,
                              .verify_signatures = true,
                              .trusted_forwarders = {"fwd.example"}});
        }
      }
    }
  }
  return policies;
}

void print(const State& state, const Lists& lists, const std::vector<Policy>& policies) {
  const std::string path = "<" + std::string(state.envelope) + ">";
  const Facts facts = facts_of(state, path);
  std::cout << state.envelope << '\t' << state.from << '\t' << state.spf << '\t' << state.signer << '\t' << state.dmarc
            << '\t' << state.own_verifier << '\t' << state.arc << '\t' << state.allowing << '\t';
  for (const Policy& policy : policies) {
    std::cout << (decide(facts, lists, policy).verdict == Verdict::deliver ? 'd' : 'c');
  }
  std::cout << '\n';
}

}  // namespace
}  // namespace bloomgate

int main() {
  using namespace bloomgate;
  const test::MemoryWhitelist whitelist({"joe@a.example", "@corp.example", "@.tree.example"});
  const NamedWhitelist named[] = {{"main", &whitelist}};
  const Lists lists = {.whitelists = named};
  const std::vector<Policy> policies = all_policies();
  for (const std::string_view envelope : kEnvelopes)
    for (const std::string_view from : kFroms)
      for (const std::string_view spf : kFindings)
        for (const std::string_view signer : kSigners)
          for (const std::string_view dmarc : kFindings)
            for (const bool own_verifier : {false, true})
              for (const bool arc : {false, true})
                for (const std::string_view allowing : kAllowing) {
                  if (!allowing.empty() && (!own_verifier || signer.empty())) continue;  // it makes no difference
                  print({envelope, from, spf, signer, dmarc, own_verifier, arc, allowing}, lists, policies);
                }
  return std::cout.flush() ? 0 : 1;
}
