// What the operator requires of a message before it is delivered: the options of the configuration in the form for
// decide(), with cautious defaults. Made once by the daemon; a plain value, safe from any thread.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "config/ip_network.hpp"
#include "config/policy_choices.hpp"
#include "filter/address/tag_separators.hpp"
#include "milter/policy/exact_list.hpp"

namespace bloomgate {

struct Policy {
  IdentityRule identity = IdentityRule::either;
  AuthenticationRule authentication = AuthenticationRule::required;
  Alignment alignment = Alignment::parent;
  SpfProves spf_proves = SpfProves::domain;
  bool dmarc_fail_vetoes = true;
  bool trust_arc = false;
  bool verify_signatures = false;  // decide() may ask for signatures: see SignatureNeed
  bool undo_batv = true;
  std::vector<std::string> trusted_forwarders = {};  // canonical domains, without those below them
  // What starts a tag of a recipient, beside the separators of each whitelist.
  TagSeparators recipient_delimiter = {};
  // `@example.org` for exactly that domain, `@.example.org` also for all domains below it.
  ExactList own_domains = {};

  // Mail that is not incoming: from these clients, through these listeners of the mail server (case-sensitive), or from
  // clients that have logged in.
  std::vector<IpNetwork> exempt_networks = {};
  std::vector<std::string> exempt_daemons = {};
  bool exempt_logged_in = false;
  ExemptAction exempt_action = ExemptAction::none;

  // Whether the client is known, and in one of exempt_networks.
  bool is_exempt_client(const std::optional<IpAddress>& client) const noexcept {
    return client &&
           std::ranges::any_of(exempt_networks, [&](const IpNetwork& network) { return network.contains(*client); });
  }
};

}  // namespace bloomgate
