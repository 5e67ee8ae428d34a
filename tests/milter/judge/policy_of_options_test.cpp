#include "milter/judge/policy_of_options.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace bloomgate::test {
namespace {

Policy policy_from(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--config", "/dev/null"});
  return policy_of(read_daemon_command(arguments).options, "/dev/null");
}

TEST_CASE("the default options give the policy's own defaults") {
  const Policy policy = policy_from({});
  const Policy defaults;
  CHECK(policy.identity == defaults.identity);
  CHECK(policy.authentication == defaults.authentication);
  CHECK(policy.alignment == defaults.alignment);
  CHECK(policy.dmarc_fail_vetoes == defaults.dmarc_fail_vetoes);
  CHECK(policy.trust_arc == defaults.trust_arc);
  CHECK(policy.undo_batv == defaults.undo_batv);
  CHECK(policy.trusted_forwarders.empty());
  CHECK(policy.own_domains.size() == 0);
  CHECK(policy.exempt_networks.empty());
  CHECK(policy.exempt_daemons.empty());
  CHECK(policy.exempt_action == defaults.exempt_action);
}

TEST_CASE("each value of an option has its rule") {
  CHECK(policy_from({"--identity", "envelope"}).identity == IdentityRule::envelope);
  CHECK(policy_from({"--identity", "header-from"}).identity == IdentityRule::header_from);
  CHECK(policy_from({"--identity", "either"}).identity == IdentityRule::either);
  CHECK(policy_from({"--identity", "both"}).identity == IdentityRule::both);
  CHECK(policy_from({"--authentication", "preferred"}).authentication == AuthenticationRule::preferred);
  CHECK(policy_from({"--authentication", "off"}).authentication == AuthenticationRule::off);
  CHECK(policy_from({"--alignment", "strict"}).alignment == Alignment::strict);
  CHECK(policy_from({"--alignment", "relaxed"}).alignment == Alignment::relaxed);
  CHECK(policy_from({"--spf-proves", "address"}).spf_proves == SpfProves::address);
  CHECK(policy_from({"--spf-proves", "no"}).spf_proves == SpfProves::no);
  CHECK_FALSE(policy_from({"--dmarc-fail-veto", "no"}).dmarc_fail_vetoes);
  CHECK(policy_from({"--trust-arc", "yes"}).trust_arc);
  CHECK_FALSE(policy_from({"--undo-batv", "no"}).undo_batv);
  CHECK(policy_from({"--exempt-networks", "192.0.2.0/24"}).exempt_networks.size() == 1);
  CHECK(policy_from({"--exempt-daemons", "MSA"}).exempt_daemons == std::vector<std::string>{"MSA"});
  CHECK(policy_from({"--exempt-authenticated", "yes"}).exempt_logged_in);
  CHECK_FALSE(policy_from({"--exempt-authenticated", "no"}).exempt_logged_in);
  CHECK(policy_from({"--exempt-action", "deliver"}).exempt_action == ExemptAction::deliver);
}

TEST_CASE("each field that may be required is one that signatures are asked about") {
  const auto rules_from = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--config", "/dev/null"});
    return verify_rules(read_daemon_command(arguments).options);
  };
  CHECK(rules_from({}).cover.required == WatchedFieldSet());
  CHECK(rules_from({}).cover.max_age == CoverRules{}.max_age);
  CHECK(rules_from({"--max-signature-age", "3d"}).cover.max_age == std::chrono::days(3));
  const VerifyRules all =
      rules_from({"--require-signed",
                  "to cc, date Message-ID References In-Reply-To List-Unsubscribe List-Id MIME-Version Content-Type "
                  "Content-Transfer-Encoding Content-Disposition"});
  for (std::size_t index = 0; index < kWatchedFields; ++index) {
    const auto field = static_cast<WatchedField>(index);
    const bool always_has_to_be_signed = field < WatchedField::mime_version;
    CHECK(all.cover.required.contains(field) != always_has_to_be_signed);
  }
  CHECK_THROWS_WITH(rules_from({"--require-signed", "Received"}), Catch::Contains("require-signed"));
}

TEST_CASE("domains become canonical, own ones with or without all below them") {
  const Policy policy = policy_from({"--own-domains", "Example.ORG .m\xc3\xbcller.example", "--trusted-forwarders",
                                     "FWD.example. b\xc3\xbc.example"});
  CHECK(policy.trusted_forwarders == std::vector<std::string>{"fwd.example", "xn--b-eha.example"});
  const auto is_own = [&policy](std::string_view sender) {
    return policy.own_domains.find(canonicalize_path(sender)).is_listed();
  };
  CHECK(is_own("joe@example.org"));
  CHECK_FALSE(is_own("joe@sub.example.org"));
  CHECK(is_own("joe@xn--mller-kva.example"));
  CHECK(is_own("joe@sub.xn--mller-kva.example"));
}

TEST_CASE("an invalid domain is an error of the configuration that names its option") {
  const std::string bad = std::string(64, 'b') + ".example";  // a label that is too long
  for (const char* const option : {"own-domains", "trusted-forwarders"}) {
    const BloomgateError error = error_of([&] { policy_from({"--" + std::string(option), "good.example " + bad}); });
    CHECK(error.code() == ErrorCode::bad_configuration);
    CHECK_THAT(error.what(), Contains(": " + std::string(option) + ": ") && Contains("'" + bad + "'"));
  }
}

TEST_CASE("each character of the recipient delimiter counts, and one that cannot start a tag is refused") {
  CHECK(policy_from({}).recipient_delimiter.none());
  CHECK(policy_from({"--recipient-delimiter", "+-"}).recipient_delimiter == TagSeparators::parse("+-"));
  CHECK_THROWS_WITH(policy_from({"--recipient-delimiter", "+a"}),
                    Contains("recipient-delimiter") && Contains("got '+a'"));
}

}  // namespace
}  // namespace bloomgate::test
