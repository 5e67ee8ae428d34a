// What the operator requires of a message before it is delivered: the options of the configuration as decide() needs
// them, with the defaults of a careful operator. Made once by the daemon; a plain value, safe from any thread.
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
  std::vector<std::string> trusted_forwarders = {};  // canonical domains, each for itself
  // What starts a tag of a recipient, beside what the whitelist says of all addresses.
  TagSeparators recipient_delimiter = {};
  // `@example.org` for exactly that domain, `@.example.org` also for all below it.
  ExactList own_domains = {};

  // Mail that is not incoming: from these clients, through these listeners of the mail server (case counts), or from
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
