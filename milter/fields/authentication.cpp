#include "milter/fields/authentication.hpp"

#include <algorithm>
#include <optional>

#include "config/enum_words.hpp"
#include "filter/base/ascii.hpp"
#include "milter/fields/result_forgery.hpp"

namespace bloomgate {
namespace {

bool is_one_of(std::string_view id, std::span<const std::string> trusted_ids) noexcept {
  return std::ranges::any_of(trusted_ids, [id](const std::string& trusted) {
    return !trusted.empty() && ascii::equal_ignoring_case(id, trusted);
  });
}

Finding finding_of(AuthenticationResult result) noexcept {
  switch (result) {
    case AuthenticationResult::pass:
      return Finding::pass;
    case AuthenticationResult::fail:
    case AuthenticationResult::softfail:
    case AuthenticationResult::hardfail:
    case AuthenticationResult::policy:
      return Finding::fail;
    case AuthenticationResult::neutral:
    case AuthenticationResult::none:
    case AuthenticationResult::temperror:
    case AuthenticationResult::permerror:
    case AuthenticationResult::other:
      break;
  }
  return Finding::none;
}

}  // namespace

std::string_view finding_name(Finding finding) noexcept {
  using enum Finding;
  static constexpr auto kWords = enum_words<Finding>({{none, "none"}, {pass, "pass"}, {fail, "fail"}});
  return word_of(kWords, finding);
}

Authentication Authentication::summarize(std::span<const std::string_view> values,
                                         std::span<const std::string> trusted_ids) {
  return summarize(values, trusted_ids, nullptr);
}

Authentication Authentication::summarize(std::span<const std::string_view> values,
                                         std::span<const std::string> trusted_ids, const Grounds& grounds,
                                         const HeaderFrom& from) {
  Authentication all = summarize(values, trusted_ids, &grounds);
  all.check_dmarc();
  // Without any result, a signature cannot have forged one. But an unreadable From field may hide which domain a result
  // would be about.
  const bool has_results = all.trusted_fields_ + all.unreadable_fields_ != 0;
  all.distrusted_ = all.distrusted_ || from_can_forge_results(from) || (has_results && grounds.is_misleading(from));
  return all;
}

Authentication Authentication::summarize(std::span<const std::string_view> values,
                                         std::span<const std::string> trusted_ids, const Grounds* grounds) {
  Authentication all;
  for (const std::string_view value : values) {
    const std::optional<std::string> id = parse_authserv_id(value);
    if (!id || !is_one_of(*id, trusted_ids)) {
      ++all.ignored_fields_;
    } else if (const auto field = parse_authentication_results(value)) {
      ++all.trusted_fields_;
      all.add_field(*field, grounds);
    } else {
      ++all.unreadable_fields_;
    }
  }
  return all;
}

void Authentication::add_field(const AuthenticationResults& field, const Grounds* grounds) {
  Authentication own;
  own.statements_.reserve(field.results.size());
  for (const MethodResult& result : field.results) {
    // ARC names no domain. A DMARC result without a domain is still about the one From domain: see dmarc().
    const bool needs_domain = result.method == AuthenticationMethod::dkim || result.method == AuthenticationMethod::spf;
    const Finding finding = finding_of(result.result);
    if (result.method == AuthenticationMethod::other) continue;
    // A pass that the method's own milter does not confirm may be text that another milter copied into its field. So
    // any other result that names the domain cancels a pass; for ARC, any other result does.
    if (finding == Finding::none && result.domain.empty() && result.method != AuthenticationMethod::arc) continue;
    if (finding == Finding::pass && grounds != nullptr &&
        !grounds->support(result.method, result.domain, result.signature)) {
      continue;
    }
    if (needs_domain && result.domain.empty()) continue;
    own.add({result.method, finding, result.domain}, result.method == AuthenticationMethod::dkim);
  }
  distrusted_ = distrusted_ || trusted_fields_ > kMaxTrustedFields ||
                statements_.size() + own.statements_.size() > kMaxStatements;
  if (distrusted_) return;
  statements_.reserve(statements_.size() + own.statements_.size());
  for (const Statement& statement : own.statements_) add(statement, /*pass_is_enough=*/false);
}

// DMARC passes by an aligned pass of DKIM or SPF. If the trusted fields have such results and none passed, the DMARC
// milter did not write that pass.
void Authentication::check_dmarc() {
  for (Statement& dmarc : statements_) {
    if (dmarc.method != AuthenticationMethod::dmarc || dmarc.finding != Finding::pass) continue;
    bool told = false;
    bool passed = false;
    for (const Statement& other : statements_) {
      if (other.method != AuthenticationMethod::dkim && other.method != AuthenticationMethod::spf) continue;
      if (passed || !aligned(other.domain, dmarc.domain, Alignment::relaxed)) continue;
      told = true;
      passed = other.finding == Finding::pass && !other.contradicted;
    }
    dmarc.contradicted = dmarc.contradicted || (told && !passed);
  }
}

void Authentication::add(const Statement& statement, bool pass_is_enough) {
  const auto known = std::ranges::find_if(statements_, [&statement](const Statement& other) {
    return other.method == statement.method && other.domain == statement.domain;
  });
  if (known == statements_.end()) {
    statements_.push_back(statement);
    return;
  }
  if (!pass_is_enough) known->has_fail = known->is_fail() || statement.is_fail();
  if (known->finding == statement.finding) {
    known->contradicted = known->contradicted || statement.contradicted;
  } else if (known->finding != Finding::pass && statement.finding != Finding::pass) {
    known->finding = Finding::fail;
  } else if (pass_is_enough) {
    known->finding = Finding::pass;
  } else {
    known->contradicted = true;
  }
}

Finding Authentication::finding_for(AuthenticationMethod method, std::string_view domain) const noexcept {
  for (const Statement& statement : statements_) {
    if (statement.method != method || statement.domain != domain) continue;
    return statement.contradicted ? Finding::none : statement.finding;
  }
  return Finding::none;
}

Finding Authentication::dmarc(std::string_view domain) const noexcept {
  // A pass that contradicts a fail may be text that another milter copied.
  const auto is_fail = [domain](const Statement& statement) {
    return statement.method == AuthenticationMethod::dmarc && statement.is_fail() &&
           (statement.domain.empty() || statement.domain == domain);
  };
  if (distrusted_ || std::ranges::any_of(statements_, is_fail)) return Finding::fail;
  return domain.empty() ? Finding::none : finding_for(AuthenticationMethod::dmarc, domain);
}

bool Authentication::passes_aligned(AuthenticationMethod method, std::string_view domain,
                                    Alignment alignment) const noexcept {
  if (distrusted_) return false;
  return std::ranges::any_of(statements_, [&](const Statement& statement) {
    return statement.is_pass_of(method) && aligned(statement.domain, domain, alignment);
  });
}

bool Authentication::dkim_aligned(std::string_view domain, Alignment alignment) const noexcept {
  return passes_aligned(AuthenticationMethod::dkim, domain, alignment);
}

std::string_view Authentication::child_signer(std::string_view domain) const noexcept {
  if (distrusted_) return {};
  const auto child = std::ranges::find_if(statements_, [domain](const Statement& statement) {
    return statement.is_pass_of(AuthenticationMethod::dkim) && is_child(statement.domain, domain);
  });
  return child != statements_.end() ? std::string_view(child->domain) : std::string_view();
}

bool Authentication::spf_aligned(std::string_view domain, Alignment alignment) const noexcept {
  return passes_aligned(AuthenticationMethod::spf, domain, alignment);
}

bool Authentication::spf_is_denied(std::string_view domain) const noexcept {
  return std::ranges::any_of(statements_, [domain](const Statement& statement) {
    return statement.method == AuthenticationMethod::spf && statement.domain == domain &&
           (statement.is_fail() || statement.contradicted);
  });
}

bool Authentication::fails_aligned(std::string_view domain) const noexcept {
  if (dmarc(domain) == Finding::fail) return true;
  return std::ranges::any_of(statements_, [domain](const Statement& statement) {
    return statement.method != AuthenticationMethod::arc && statement.is_fail() &&
           aligned(statement.domain, domain, Alignment::relaxed);
  });
}

Finding Authentication::arc() const noexcept {
  return distrusted_ ? Finding::none : finding_for(AuthenticationMethod::arc, {});
}

}  // namespace bloomgate
