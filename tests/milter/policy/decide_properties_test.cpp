// What holds of every decision, shown on random messages, policies and lists.
#include <array>
#include <random>

#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

using test::World;

constexpr int kMessages = test::kIsSanitized ? 300 : 5000;

constexpr std::array<std::string_view, 14> kEnvelopes = {"joe@example.org",
                                                         "ann@bank.example",
                                                         "any@corp.example",
                                                         "any@a.tree.example",
                                                         "bob@ours.example",
                                                         "pat+x@partner.example",
                                                         "vip@extra.example",
                                                         "x@other.example",
                                                         "",
                                                         "malformed",
                                                         "b@mail.example.org",
                                                         "prvs=4f2a1b3c5d=joe@example.org",
                                                         "SRS0=HHHH=TT=example.org=joe@forwarder.example",
                                                         "SRS0=HHHH=TT=ours.example=bob@forwarder.example"};
constexpr std::array<std::string_view, 10> kFroms = {
    "joe@example.org",   "ann@bank.example", "any@corp.example", "bob@ours.example", "pat@partner.example",
    "vip@extra.example", "x@other.example",  "!absent",          "!several-fields",  "!malformed"};
constexpr std::array<std::string_view, 9> kDomains = {"example.org",       "mail.example.org", "bank.example",
                                                      "corp.example",      "a.tree.example",   "ours.example",
                                                      "forwarder.example", "extra.example",    "other.example"};
constexpr std::array<std::string_view, 4> kMethods = {"dkim", "spf", "dmarc", "arc"};
constexpr std::array<std::string_view, 6> kOtherResults = {"none",      "neutral", "temperror",
                                                           "permerror", "weird",   "bestguesspass"};
constexpr std::array<std::string_view, 4> kFails = {"fail", "softfail", "hardfail", "policy"};

// One message, as it is put together from words.
struct Message {
  std::string envelope;
  std::string_view from;
  std::string results;

  Facts facts() const {
    const HeaderFrom parsed = test::header_from(from);
    return {envelope, parsed, test::results(results, envelope, parsed)};
  }
};

class Random {
 public:
  bool coin() { return number(2) == 0; }
  std::size_t number(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(engine_); }
  template <typename Array>
  auto one_of(const Array& array) {
    return array[number(array.size())];
  }

  // A result of a method about a domain.
  std::string statement(std::string_view result) {
    const std::string_view method = one_of(kMethods);
    std::string text = std::string(method) + "=" + std::string(result);
    const std::string domain(one_of(kDomains));
    if (method == "dkim") text += " header.d=" + domain;
    if (method == "spf") text += " smtp.mailfrom=" + domain;
    if (method == "dmarc" && number(8) != 0) text += " header.from=" + domain;
    return text;
  }

  std::string any_statement(bool with_pass) {
    const std::size_t kind = number(4);
    if (kind == 0) return statement(one_of(kFails));
    if (kind == 1 || !with_pass) return statement(one_of(kOtherResults));
    return statement("pass");
  }

  std::string fields(bool with_pass) {
    std::string text;
    for (std::size_t i = number(4); i != 0; --i) {
      if (!text.empty()) text += " | ";
      if (number(10) == 0) text += "dkim=pass header.d=example.org (no end | ";
      text += any_statement(with_pass);
      for (std::size_t j = number(3); j != 0; --j) text += "; " + any_statement(with_pass);
    }
    return text;
  }

  Message message(bool with_pass = true) {
    const std::string_view envelope = one_of(kEnvelopes);
    std::string path = "<";
    path.append(envelope).append(">");
    return {path, one_of(kFroms), fields(with_pass)};
  }

  Policy policy() {
    using enum IdentityRule;
    using enum AuthenticationRule;
    Policy policy = {
        .identity = one_of(std::array{envelope, header_from, either, both}),
        .authentication = one_of(std::array{required, preferred, off}),
        .alignment = one_of(std::array{Alignment::parent, Alignment::strict, Alignment::relaxed}),
        .spf_proves = one_of(std::array{SpfProves::domain, SpfProves::address, SpfProves::no}),
        .dmarc_fail_vetoes = coin(),
        .trust_arc = coin(),
        .undo_batv = coin(),
    };
    if (coin()) policy.trusted_forwarders = {"forwarder.example"};
    if (coin()) policy.own_domains = read_exact_list("@ours.example").list;
    return policy;
  }

  std::string_view revoked() { return coin() ? "" : "ann@bank.example\n@.tree.example\n"; }

 private:
  std::mt19937_64 engine_{1};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same messages in each run
};

constexpr std::string_view kExtra = "vip@extra.example\n";

bool delivers(const World& world, const Message& message) {
  return world.decide(message.facts()).verdict == Verdict::deliver;
}

bool delivers(Policy policy, std::string_view revoked, const Message& message) {
  return delivers(World(std::move(policy), revoked, kExtra), message);
}

void show(const Message& message) {
  UNSCOPED_INFO("envelope " << message.envelope << ", From " << message.from << ", results: " << message.results);
}

TEST_CASE("decide: if authentication is required, no message without a pass from a trusted source is delivered") {
  Random random;
  int delivered = 0;
  for (int i = 0; i < kMessages; ++i) {
    Policy policy = random.policy();
    policy.authentication = AuthenticationRule::required;
    const World world(policy, random.revoked(), kExtra);
    Message message = random.message(/*with_pass=*/false);
    // Passes enough, but from elsewhere.
    for (const std::string_view domain : kDomains) {
      message.results += message.results.empty() ? "" : " | ";
      message.results.append("=elsewhere.example; arc=pass; dmarc=pass header.from=").append(domain);
      message.results.append("; dkim=pass header.d=").append(domain).append("; spf=pass smtp.mailfrom=").append(domain);
    }
    if (delivers(world, message)) show(message);
    REQUIRE_FALSE(delivers(world, message));
    delivered += delivers(world, random.message()) ? 1 : 0;
  }
  CHECK(delivered > kMessages / 100);  // with a pass there are some
}

TEST_CASE("decide: an additional fail never turns check into deliver") {
  Random random;
  int turned = 0;
  for (int i = 0; i < kMessages; ++i) {
    const World world(random.policy(), random.revoked(), kExtra);
    const Message before = random.message();
    Message after = before;
    const std::string fail = random.statement(random.one_of(kFails));
    after.results += (after.results.empty() ? "" : random.coin() ? " | " : "; ") + fail;
    const bool was_delivered = delivers(world, before);
    const bool is_delivered = delivers(world, after);
    if (is_delivered && !was_delivered) show(after);
    REQUIRE((was_delivered || !is_delivered));
    turned += was_delivered && !is_delivered ? 1 : 0;
  }
  CHECK(turned > kMessages / 200);
}

TEST_CASE("decide: untrusted fields change nothing") {
  Random random;
  for (int i = 0; i < kMessages; ++i) {
    const World world(random.policy(), random.revoked(), kExtra);
    const Message before = random.message();
    Message after = before;
    after.results += (after.results.empty() ? "=" : " | =") + std::string("elsewhere.example; ") +
                     random.any_statement(/*with_pass=*/true);
    REQUIRE(world.decide(after.facts()) == world.decide(before.facts()));
  }
}

TEST_CASE("decide: revoking never turns check into deliver, and stops the named sender") {
  Random random;
  int delivered = 0;
  for (int i = 0; i < kMessages; ++i) {
    const Policy policy = random.policy();
    const Message message = random.message();
    const bool was_delivered = delivers(policy, "", message);
    const bool is_delivered = delivers(policy, "ann@bank.example\n@.tree.example\n", message);
    REQUIRE((was_delivered || !is_delivered));
    const std::string everybody = "@.example\n@.example.org\n";
    REQUIRE_FALSE(delivers(policy, everybody, message));
    delivered += was_delivered ? 1 : 0;
  }
  CHECK(delivered > kMessages / 100);
}

TEST_CASE("decide: a stricter rule delivers no message that a laxer rule checks") {
  Random random;
  for (int i = 0; i < kMessages; ++i) {
    const Policy policy = random.policy();
    const std::string_view revoked = random.revoked();
    const Message message = random.message();
    const auto delivers_with = [&](auto change) {
      Policy changed = policy;
      change(changed);
      return delivers(changed, revoked, message);
    };
    const auto by_identity = [&](IdentityRule rule) {
      return delivers_with([rule](Policy& changed) { changed.identity = rule; });
    };
    const auto by_authentication = [&](AuthenticationRule rule) {
      return delivers_with([rule](Policy& changed) { changed.authentication = rule; });
    };
    const bool envelope = by_identity(IdentityRule::envelope);
    const bool header_from = by_identity(IdentityRule::header_from);
    show(message);
    REQUIRE(by_identity(IdentityRule::either) == (envelope || header_from));
    REQUIRE(by_identity(IdentityRule::both) == (envelope && header_from));
    const bool preferred = by_authentication(AuthenticationRule::preferred);
    REQUIRE((preferred || !by_authentication(AuthenticationRule::required)));
    REQUIRE((by_authentication(AuthenticationRule::off) || !preferred));
    const auto by_alignment = [&](Alignment alignment) {
      return delivers_with([alignment](Policy& changed) { changed.alignment = alignment; });
    };
    REQUIRE((by_alignment(Alignment::relaxed) || !by_alignment(Alignment::parent)));
    REQUIRE((by_alignment(Alignment::parent) || !by_alignment(Alignment::strict)));
    const auto by_spf = [&](SpfProves proves) {
      return delivers_with([proves](Policy& changed) { changed.spf_proves = proves; });
    };
    REQUIRE((by_spf(SpfProves::address) || !by_spf(SpfProves::domain)));
    REQUIRE((by_spf(SpfProves::domain) || !by_spf(SpfProves::no)));
    REQUIRE((delivers_with([](Policy& changed) { changed.dmarc_fail_vetoes = false; }) ||
             !delivers_with([](Policy& changed) { changed.dmarc_fail_vetoes = true; })));
    REQUIRE((delivers_with([](Policy& changed) { changed.own_domains = {}; }) ||
             !delivers_with([](Policy& changed) { changed.own_domains = read_exact_list("@ours.example").list; })));
  }
}

}  // namespace
}  // namespace bloomgate
