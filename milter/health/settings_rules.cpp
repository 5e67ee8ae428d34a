// The rules about the options alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "config/ip_network.hpp"
#include "milter/health/rules.hpp"

namespace bloomgate {
namespace {

using Options = DaemonOptions;
using namespace std::chrono_literals;

// Hosts on the Internet have no address in these networks (RFC 1918, RFC 6598, RFC 3927, RFC 4193, RFC 4291, RFC 3879).
bool is_private(const IpNetwork& network) {
  static const auto kPrivate = [] {
    std::vector<IpNetwork> networks;
    for (const char* const text : {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16",
                                   "127.0.0.0/8", "::1/128", "fc00::/7", "fe80::/10", "fec0::/10"}) {
      networks.push_back(parse_ip_network(text).value());
    }
    return networks;
  }();
  return std::ranges::any_of(kPrivate, [&](const IpNetwork& each) {
    return each.prefix_bits <= network.prefix_bits && each.contains(network.address);
  });
}

// No organisation has networks as wide as these.
bool holds_strangers(const IpNetwork& network) {
  constexpr unsigned kIpv4Bits = 96 + 8, kIpv6Bits = 20;
  if (is_private(network)) return false;
  // All of IPv4 is in such a network.
  static const IpNetwork kIpv4 = {parse_ip_address("0.0.0.0").value(), 96};
  if (network.prefix_bits < kIpv4.prefix_bits && network.contains(kIpv4.address)) return true;
  const bool is_of_ipv4 = network.prefix_bits >= 96 && is_ipv4(network.address);
  return network.prefix_bits < (is_of_ipv4 ? kIpv4Bits : kIpv6Bits);
}

std::string text_of(const IpNetwork& network) {
  const bool is_of_ipv4 = network.prefix_bits >= 96 && is_ipv4(network.address);
  return fmt::format("{}/{}", to_string(network.address), network.prefix_bits - (is_of_ipv4 ? 96 : 0));
}

std::string wide_networks(const Options& options) {
  std::string text;
  for (const IpNetwork& each : options.exempt_networks) {
    if (holds_strangers(each)) text += (text.empty() ? "" : ", ") + text_of(each);
  }
  return text;
}

void delivers_strangers(const HealthFacts& facts, FoundOnes& found) {
  if (facts.options.exempt_action != ExemptAction::deliver) return;
  if (const std::string networks = wide_networks(facts.options); !networks.empty()) {
    found.push_back({"exempt-networks has " + networks +
                     ", and exempt-action = deliver: mail of outside senders is delivered "
                     "with any sender"});
  }
}

void exempts_strangers(const HealthFacts& facts, FoundOnes& found) {
  if (facts.options.exempt_action == ExemptAction::deliver) return;
  if (const std::string networks = wide_networks(facts.options); !networks.empty()) {
    found.push_back({"exempt-networks has " + networks + ": mail of outside senders is looked up in no list"});
  }
}

void authentication_is_off(const HealthFacts& facts, FoundOnes& found) {
  if (facts.options.authentication == AuthenticationRule::off) {
    found.push_back({"authentication = off: anyone can forge a listed sender"});
  }
}

void authentication_is_preferred(const HealthFacts& facts, FoundOnes& found) {
  if (facts.options.authentication == AuthenticationRule::preferred) {
    found.push_back({"authentication = preferred: a listed sender counts without a proof, too"});
  }
}

void proof_is_opened(const HealthFacts& facts, FoundOnes& found) {
  const Options& options = facts.options;
  if (options.authentication == AuthenticationRule::off) return;
  const auto leave_out = [](std::string_view what) { return fmt::format("leave the option out, so that {}", what); };
  if (options.alignment == Alignment::relaxed) {
    found.push_back(
        {"alignment = relaxed: a domain below a listed one, or beside it, signs for it, unless a DMARC record forbids "
         "it (adkim=s) or ends the organisation between them (psd=n, psd=y)",
         leave_out("only the domain itself and those above it sign for it")});
  }
  if (options.spf_proves == SpfProves::address) {
    found.push_back(
        {"spf-proves = address: each user of a listed sender's host, and each of its customers, can send as "
         "that sender",
         leave_out("SPF proves senders that are listed by their domain alone")});
  }
  if (!options.dmarc_fail_veto) {
    found.push_back({"dmarc-fail-veto = no: a message whose DMARC failed is delivered by another proof",
                     leave_out("it is checked")});
  }
  if (options.trust_arc) {
    found.push_back(
        {"trust-arc = yes: each forwarder whose arc=pass a trusted milter believes can write in the name of "
         "every listed sender",
         leave_out("forwarders prove no sender")});
  }
}

std::string keeping(const HealthFacts& facts, std::string_view line, std::string_view other) {
  return fmt::format("write '{}' into {} to keep that; {}", line, facts.config_path, other);
}

// These defaults have become stricter, so an older file may rely on what they no longer allow. Once the option is in
// the file, it is a choice.
void defaults_are_not_chosen(const HealthFacts& facts, FoundOnes& found) {
  const Options& options = facts.options;
  // Under `preferred` a sender counts without a proof, too.
  if (options.authentication != AuthenticationRule::required) return;
  const bool reads_results = !options.trusted_authserv_ids.empty() || options.verify_dkim == Options::VerifyDkim::no;
  if (reads_results && !facts.given.contains("alignment")) {
    found.push_back(
        {"alignment is not set, so a trusted dmarc=pass counts only with the dkim=pass or spf=pass of a domain that "
         "may "
         "speak for the sender's",
         keeping(facts, "alignment = parent",
                 "'alignment = relaxed' lets dmarc=pass count alone, and domains below listed ones sign for them")});
  }
  if (facts.given.contains("spf-proves")) return;
  constexpr std::string_view kAddresses =
      "'spf-proves = address' lets SPF prove addresses, which is safe only where the host of each binds its users to "
      "them";
  if (reads_results) {
    found.push_back(
        {"spf-proves is not set, so SPF proves a sender only if its domain is listed, not if only its address is",
         keeping(facts, "spf-proves = domain", kAddresses)});
  } else if (options.identity == IdentityRule::envelope || options.identity == IdentityRule::both) {
    found.push_back(
        {"spf-proves is not set, so an envelope sender that is listed as an address counts only if From is "
         "the same mailbox",
         keeping(facts, "spf-proves = domain", kAddresses)});
  }
}

// Whether hosts on the Internet may reach it. The meaning of a name may change, so it is not looked up here: only one
// name is always local (RFC 6761 section 6.3).
bool is_open(const SocketAddress& address) {
  if (address.family == SocketAddress::Family::unix_path) return false;
  const auto number = parse_ip_address(address.host);
  return number ? !is_private({*number, 128}) : address.host != "localhost";
}

void addresses_are_open(const HealthFacts& facts, FoundOnes& found) {
  const Options& options = facts.options;
  const auto look_at = [&](const char* option, const std::optional<SocketAddress>& address, const char* means) {
    if (address && is_open(*address)) {
      found.push_back({fmt::format("{} = {} can be reached from other machines: who reaches it {}", option,
                                   to_string(*address), means)});
    }
  };
  look_at("socket", options.socket, "may ask how any message would be decided, and take all connections");
  look_at("lookup-socket", options.lookup_socket, "may ask for any address whether it is listed");
  look_at("metrics", options.metrics, "may read how much mail comes, and how it is decided");
}

void only_observes(const HealthFacts& facts, FoundOnes& found) {
  if (facts.options.mode == Mode::observe) found.push_back({"mode = observe: no message is marked"});
}

void learns_from_programs(const HealthFacts& facts, FoundOnes& found) {
  const Options& options = facts.options;
  if (options.learn == Options::Learn::none || !options.learn_from_exempt) return;
  found.push_back(
      {fmt::format("learn-from-exempt = yes: a program in exempt-networks can list anybody for any user, at "
                   "most {} new entries an hour for each client (learn-exempt-rate)",
                   options.learn_exempt_rate)});
}

void takes_shrunken_lists(const HealthFacts& facts, FoundOnes& found) {
  if (facts.options.allow_shrunken_whitelist) {
    found.push_back(
        {"allow-shrunken-whitelist = yes: a whitelist that lost its entries by mistake replaces a good one"});
  }
}

constexpr std::array kSettingsRules = {
    Rule{"exempt-delivers-strangers", Severity::page,
         "delivers mail of outside senders, since exempt-networks is too wide",
         "name the networks of your own hosts alone in exempt-networks; then: systemctl reload bloomgate-milter", 0min,
         false, delivers_strangers},
    Rule{"exempt-strangers", Severity::ticket, "exempts mail of outside senders, since exempt-networks is too wide",
         "name the networks of your own hosts alone in exempt-networks; then: systemctl reload bloomgate-milter", 5min,
         false, exempts_strangers},
    Rule{"authentication-off", Severity::page, "delivers forged senders: authentication = off",
         "set authentication = required; the daemon then verifies signatures itself, or believes the milter that "
         "trusted-authserv-id names",
         5min, false, authentication_is_off},
    Rule{"authentication-preferred", Severity::ticket, "delivers senders without a proof: authentication = preferred",
         "set authentication = required, as soon as the log shows that your listed senders are authenticated", 5min,
         false, authentication_is_preferred},
    Rule{"addresses-open", Severity::ticket, "listens on addresses that other machines reach",
         "use 127.0.0.1, a unix socket or a private network, and let a firewall say who may; then: systemctl restart "
         "bloomgate-milter",
         5min, false, addresses_are_open},
    Rule{"proof-opened", Severity::notice, "accepts weaker proofs of a sender than the defaults do",
         "leave the options out that the status page names", 24h, false, proof_is_opened},
    Rule{"defaults-not-chosen", Severity::notice, "has options at defaults that have become stricter",
         "write the options that the status page names into the configuration", 24h, false, defaults_are_not_chosen},
    Rule{"mode-observe", Severity::notice, "marks no message: mode = observe",
         "when the log shows what you want, set mode = enforce; then: systemctl reload bloomgate-milter", 24h, false,
         only_observes},
    Rule{"learn-from-exempt", Severity::notice, "learns from programs in exempt-networks",
         "leave learn-from-exempt out if no person sends mail from there without a login", 24h, false,
         learns_from_programs},
    Rule{"shrunken-lists-allowed", Severity::notice, "accepts whitelists that have lost their entries",
         "leave allow-shrunken-whitelist out, now that the smaller list is loaded; then: systemctl reload "
         "bloomgate-milter",
         24h, false, takes_shrunken_lists},
};

}  // namespace

std::span<const Rule> settings_rules() noexcept {
  return kSettingsRules;
}

}  // namespace bloomgate
