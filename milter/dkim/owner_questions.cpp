#include "milter/dkim/owner_questions.hpp"

#include <algorithm>

#include "milter/dkim/dmarc_record.hpp"
#include "milter/dkim/library_outcome.hpp"
#include "milter/dkim/tree_walk.hpp"

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;

// The owner may have forbidden signers in a record that we failed to read, so no failure allows anything.
WalkAnswer answer_of(const TxtRecord& record) {
  switch (record.status) {
    case TxtStatus::found:
      return {.record = read_dmarc_record(record.text)};
    case TxtStatus::not_found:
      return {};
    case TxtStatus::several:
    case TxtStatus::too_long:
    case TxtStatus::malformed:
      return {.fault = Outcome::other_domain_not_allowed};
    case TxtStatus::server_failed:
    case TxtStatus::not_asked:
    case TxtStatus::bogus:
    case TxtStatus::timed_out:
      break;
  }
  return {.fault = outcome_of(record.status)};
}

bool is_of_another(const SignatureCandidate& candidate, std::string_view domain) noexcept {
  return candidate.signature.domain != domain && aligned(candidate.signature.domain, domain, Alignment::relaxed);
}

bool has_passed(const SignatureCandidate& candidate) noexcept {
  return candidate.signature.outcome == Outcome::pass;
}

bool has_own_pass(const SignatureChoice& verified, std::string_view domain) noexcept {
  return std::ranges::any_of(verified.candidates, [domain](const SignatureCandidate& each) {
    return has_passed(each) && each.signature.domain == domain;
  });
}

// The other domains whose signatures passed, each once.
std::vector<std::string_view> passed_others(const SignatureChoice& verified, std::string_view domain) {
  std::vector<std::string_view> signers;
  for (const SignatureCandidate& each : verified.candidates) {
    const std::string_view signer = each.signature.domain;
    if (!has_passed(each) || !is_of_another(each, domain)) continue;
    if (std::ranges::find(signers, signer) == signers.end()) signers.push_back(signer);
  }
  return signers;
}

}  // namespace

OwnerQuestions::OwnerQuestions(Resolver& resolver, const SignatureChoice& choice, Alignment alignment)
    : resolver_(resolver) {
  if (alignment != Alignment::relaxed) return;
  for (const Domain& wanted : choice.need.senders()) {
    bool depends_on_owner = false;
    for (const SignatureCandidate& each : choice.candidates) {
      if (!each.is_worth_verifying || !is_of_another(each, wanted.view())) continue;
      start(each.signature.domain);
      depends_on_owner = true;
    }
    if (!depends_on_owner) continue;
    start(wanted.view());
    domains_.emplace_back(wanted.view());
  }
}

void OwnerQuestions::start(std::string_view domain) {
  for (const std::string_view name : walk_names(domain)) {
    const auto [lookup, is_new] = lookups_.try_emplace(std::string(name));
    if (is_new) lookup->second = resolver_.start("_dmarc." + lookup->first);
  }
}

std::vector<OwnerRule> OwnerQuestions::rules(const SignatureChoice& verified, Resolver::Clock::time_point deadline) {
  const auto ask = [&](std::string_view name) {
    const auto lookup = lookups_.find(name);
    if (lookup == lookups_.end()) return WalkAnswer{.fault = Outcome::other_domain_not_allowed};
    return answer_of(resolver_.wait(*lookup->second, deadline));
  };
  std::vector<OwnerRule> rules;
  for (const std::string& domain : domains_) {
    if (has_own_pass(verified, domain)) continue;
    for (const std::string_view signer : passed_others(verified, domain)) {
      rules.push_back({domain, std::string(signer), may_sign(signer, domain, ask)});
    }
  }
  return rules;
}

}  // namespace bloomgate
