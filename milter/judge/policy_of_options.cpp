#include "milter/judge/policy_of_options.hpp"

#include <utility>

#include "config/config_error.hpp"
#include "filter/address/address.hpp"
#include "filter/address/tag_separators.hpp"
#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

using Options = DaemonOptions;

// The list entry for a domain in an option: `@example.org` for `example.org`, `@.example.org` for `.example.org`.
Entry domain_entry(std::string_view option, const std::string& domain, const std::string& config_path) {
  const Entry entry = canonicalize_line("@" + domain);
  if (entry.is_key()) return entry;
  throw config_error({config_path}, std::string(option),
                     "expected a domain, got '" + printable(domain) + "': " + reject_text(entry));
}

TagSeparators recipient_delimiter(const std::string& characters, const std::string& config_path) {
  if (const auto separators = TagSeparators::parse(characters)) return *separators;
  throw config_error({config_path}, "recipient-delimiter",
                     "expected characters out of " + std::string(TagSeparators::kCharacters) + ", got '" +
                         printable(characters) + "'");
}

}  // namespace

Policy policy_of(const DaemonOptions& options, const std::string& config_path) {
  Policy policy;
  policy.identity = options.identity;
  policy.authentication = options.authentication;
  policy.alignment = options.alignment;
  policy.spf_proves = options.spf_proves;
  policy.dmarc_fail_vetoes = options.dmarc_fail_veto;
  policy.trust_arc = options.trust_arc;
  policy.undo_batv = options.undo_batv;
  policy.verify_signatures = verifies_signatures(options);
  for (const std::string& domain : options.trusted_forwarders) {
    policy.trusted_forwarders.emplace_back(domain_entry("trusted-forwarders", domain, config_path).domain());
  }
  policy.recipient_delimiter = recipient_delimiter(options.recipient_delimiter, config_path);
  std::string own_domains;
  for (const std::string& domain : options.own_domains) {
    own_domains.append(domain_entry("own-domains", domain, config_path).key()).append("\n");
  }
  policy.own_domains = std::move(read_exact_list(own_domains).list);
  policy.exempt_networks = options.exempt_networks;
  policy.exempt_daemons = options.exempt_daemons;
  policy.exempt_logged_in = options.exempt_authenticated;
  policy.exempt_action = options.exempt_action;
  return policy;
}

LearnRules learn_rules(const DaemonOptions& options) {
  const bool is_on = options.learn == Options::Learn::outbound;
  return {.path = is_on ? options.learn_file : "",
          .keep = options.learn_keep,
          .lesson = {.most_recipients = options.learn_max_recipients, .from_exempt = options.learn_from_exempt},
          .per_hour = options.learn_rate,
          .exempt_per_hour = options.learn_exempt_rate,
          .elsewhere = {.hosts = options.learned_from, .learn_key = options.learn_key}};
}

BrakeRules brake_rules(const DaemonOptions& options) {
  return {.floor = {.messages = static_cast<std::uint32_t>(options.burst_limit),
                    .recipients = static_cast<std::uint32_t>(options.burst_recipients)},
          .observe = options.burst_observe,
          .path = options.burst_file,
          .suspends = options.suspend,
          .suspensions_path = options.suspend_file};
}

std::string who_teaches_text(const DaemonOptions& options) {
  if (options.learn == Options::Learn::none) return {};
  const std::string begin = "learn: users who have logged in teach";
  if (options.exempt_networks.empty()) return begin;
  if (!options.learn_from_exempt) return begin + ", clients of exempt-networks do not (learn-from-exempt = no)";
  return begin + ", and so do clients of exempt-networks (learn-from-exempt = yes): a program there can list anybody " +
         "for any user, at most " + std::to_string(options.learn_exempt_rate) +
         " new entries an hour for each client (learn-exempt-rate)";
}

CheckMark check_mark(const DaemonOptions& options) noexcept {
  return options.mark_tells_why ? CheckMark::tells_why : CheckMark::plain;
}

VerifyRules verify_rules(const DaemonOptions& options) {
  WatchedFieldSet required;
  for (const std::string& name : options.require_signed) required.add(watched_field(name).value());
  return {.alignment = options.alignment,
          .cover = {.require_oversigned = options.require_oversigned,
                    .required = required,
                    .max_age = options.max_signature_age},
          .dns_timeout = options.dns_timeout};
}

JudgeRules judge_rules(const DaemonCommand& command) {
  const bool trusts_mta_name = command.options.verify_dkim == Options::VerifyDkim::no;
  return {.policy = policy_of(command.options, command.config_path),
          .trusted_authserv_ids = command.options.trusted_authserv_ids,
          .trusts_mta_name = trusts_mta_name,
          .trusted_fields = command.options.trusted_fields,
          .cover = verify_rules(command.options).cover,
          .confirm_timeout = command.options.confirm_timeout};
}

}  // namespace bloomgate
