#include "milter/dkim/tree_walk.hpp"

#include <algorithm>

#include "milter/fields/alignment.hpp"

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;

std::size_t labels_of(std::string_view name) noexcept {
  return static_cast<std::size_t>(std::ranges::count(name, '.')) + 1;
}

// Empty for a name of one label.
std::string_view parent_of(std::string_view name) noexcept {
  return name.substr(std::min(name.find('.'), name.size() - 1) + 1);
}

// The domain itself, or the name above it that is one label below `parent`.
std::string_view below(std::string_view parent, std::string_view domain) noexcept {
  while (parent_of(domain).size() > parent.size()) domain = parent_of(domain);
  return domain;
}

struct FoundRecord {
  std::string_view name;
  DmarcRecord record;
};

// Uses the records in the order of the walk; only the last one may say psd=n or psd=y: section 4.10.2.
std::string_view organization_of(std::string_view domain, const std::vector<FoundRecord>& found) noexcept {
  const std::string_view listed = organizational_domain(domain);
  const std::string_view highest = listed.empty() ? domain : listed;
  if (found.empty()) return highest;
  const FoundRecord& last = found.back();
  const bool is_above_it = last.record.psd == Psd::yes && last.name != domain;
  const std::string_view walked = is_above_it ? below(last.name, domain) : last.name;
  return walked.size() < highest.size() ? highest : walked;
}

Adkim adkim_of(std::string_view domain, std::string_view organization, const std::vector<FoundRecord>& found) noexcept {
  const auto decides = [&](const FoundRecord& each) {
    return each.name == domain || each.name.size() <= organization.size();
  };
  const auto policy = std::ranges::find_if(found, decides);
  return policy != found.end() ? policy->record.adkim : Adkim::relaxed;
}

}  // namespace

std::vector<std::string_view> walk_names(std::string_view domain) {
  std::vector<std::string_view> names;
  if (domain.empty()) return names;
  names.push_back(domain);
  std::string_view name = parent_of(domain);
  while (labels_of(name) >= kMaxWalkNames) name = parent_of(name);
  for (; !name.empty(); name = parent_of(name)) names.push_back(name);
  return names;
}

TreeWalk walk_tree(std::string_view domain, const AskForRecord& ask) {
  std::vector<FoundRecord> found;
  for (const std::string_view name : walk_names(domain)) {
    const WalkAnswer answer = ask(name);
    if (answer.fault != Outcome::pass) return {.fault = answer.fault};
    if (!answer.record) continue;
    if (answer.record->psd == Psd::unreadable) return {.fault = Outcome::other_domain_not_allowed};
    found.push_back({name, *answer.record});
    if (answer.record->psd != Psd::not_said) break;
  }
  const std::string_view organization = organization_of(domain, found);
  return {.organization = organization, .adkim = adkim_of(domain, organization, found)};
}

Outcome may_sign(std::string_view signer, std::string_view domain, const AskForRecord& ask) {
  const TreeWalk of_domain = walk_tree(domain, ask);
  if (of_domain.fault != Outcome::pass) return of_domain.fault;
  if (of_domain.adkim == Adkim::strict) return Outcome::other_domain_not_allowed;
  const TreeWalk of_signer = walk_tree(signer, ask);
  if (of_signer.fault != Outcome::pass) return of_signer.fault;
  return of_signer.organization == of_domain.organization ? Outcome::pass : Outcome::other_domain_not_allowed;
}

}  // namespace bloomgate
