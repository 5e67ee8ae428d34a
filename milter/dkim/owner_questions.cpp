#include "milter/dkim/owner_questions.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "milter/dkim/dmarc_record.hpp"
#include "milter/dkim/library_outcome.hpp"

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;

std::string record_name(std::string_view domain) {
  return std::string("_dmarc.").append(domain);
}

// What a TXT record says; nothing if it is no DMARC record. The owner may have forbidden what we fail to read, so no
// failure allows anything.
std::optional<Outcome> outcome_of(const TxtRecord& record) {
  switch (record.status) {
    case TxtStatus::not_found:
      return std::nullopt;
    case TxtStatus::found:
      break;
    case TxtStatus::several:
    case TxtStatus::too_long:
    case TxtStatus::malformed:
      return Outcome::other_domain_not_allowed;
    case TxtStatus::server_failed:
    case TxtStatus::bogus:
    case TxtStatus::timed_out:
      return bloomgate::outcome_of(record.status);
  }
  switch (read_adkim(record.text)) {
    case Adkim::no_record:
      return std::nullopt;
    case Adkim::relaxed:
      return Outcome::pass;
    case Adkim::strict:
      break;
  }
  return Outcome::other_domain_not_allowed;
}

bool is_of_another(const SignatureCandidate& candidate, std::string_view domain) noexcept {
  return candidate.signature.domain != domain && aligned(candidate.signature.domain, domain, Alignment::relaxed);
}

bool has_passed(const SignatureCandidate& candidate) noexcept {
  return candidate.signature.outcome == Outcome::pass;
}

}  // namespace

OwnerQuestions::OwnerQuestions(Resolver& resolver, const SignatureChoice& choice, Alignment alignment)
    : resolver_(resolver) {
  if (alignment != Alignment::relaxed) return;
  for (const Domain& wanted : choice.need.domains) {
    const std::string_view domain = wanted.view();
    const auto depends_on_owner = [domain](const SignatureCandidate& each) {
      return each.is_worth_verifying && is_of_another(each, domain);
    };
    if (std::ranges::none_of(choice.candidates, depends_on_owner)) continue;
    Question question = {std::string(domain), resolver.start(record_name(domain)), nullptr};
    const std::string_view organization = organizational_domain(domain);
    if (organization != domain) question.of_organization = resolver.start(record_name(organization));
    questions_.push_back(std::move(question));
  }
}

std::vector<OwnerRule> OwnerQuestions::rules(const SignatureChoice& verified, Resolver::Clock::time_point deadline) {
  std::vector<OwnerRule> rules;
  for (const Question& each : questions_) {
    const auto is_own = [&](const SignatureCandidate& one) { return one.signature.domain == each.domain; };
    const auto passed = [&](const auto& is_meant) {
      return std::ranges::any_of(verified.candidates,
                                 [&](const auto& one) { return has_passed(one) && is_meant(one); });
    };
    const auto is_others = [&](const SignatureCandidate& one) { return is_of_another(one, each.domain); };
    if (!passed(is_own) && passed(is_others)) rules.push_back({each.domain, answer(each, deadline)});
  }
  return rules;
}

SignatureOutcome OwnerQuestions::answer(const Question& question, Resolver::Clock::time_point deadline) {
  if (const auto outcome = outcome_of(resolver_.wait(*question.of_domain, deadline))) return *outcome;
  if (question.of_organization == nullptr) return Outcome::pass;
  // Without any record the owner has not forbidden it.
  return outcome_of(resolver_.wait(*question.of_organization, deadline)).value_or(Outcome::pass);
}

}  // namespace bloomgate
