// The keys whose whitelists the daemon takes, and what goes with them.
#include "config/daemon_options.hpp"
#include "tests/config/written_config.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace bloomgate::test {
namespace {

constexpr std::string_view kKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
constexpr std::string_view kOtherKey = "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=";

TEST_CASE("trusted keys, in one line or in several, count for every whitelist") {
  const std::string keys = "trusted-key = " + std::string(kKey) + "\ntrusted-key = " + std::string(kOtherKey) + "\n";
  const TrustedKeys want = {*PublicKey::parse(kKey), *PublicKey::parse(kOtherKey)};
  const auto whitelists = Config(keys + "whitelist = /a.bloom\nwhitelist = /b.bloom\n").read().options.whitelists;
  CHECK(whitelists.back() == WhitelistSource{"b", "/b.bloom", {}, want, "/var/lib/bloomgate/learned/manifests"});
  CHECK(Config(keys + "taken-manifests = /m\nuse-overdue-for = 5d\n").read().options.whitelists.front() ==
        WhitelistSource{"whitelist", "/var/lib/bloomgate/whitelist.bloom", {}, want, "/m", std::chrono::days(5)});
  const std::string both = std::string(kKey) + " " + std::string(kOtherKey);
  CHECK(Config("trusted-key = " + both + " # two\n").read().options.whitelists.front().trusted_keys == want);
  CHECK(Config("trusted-key =\n").read().options.whitelists.front().trusted_keys.empty());
  CHECK(Config(keys).read({"--trusted-key", std::string(kKey)}).options.whitelists.front().trusted_keys ==
        TrustedKeys{want.front()});
}

TEST_CASE("an error about a trusted key does not show the key, which may be a secret one") {
  const std::string secret(kSecretKeyTextCharacters - 2, 'S');
  for (const std::string& line :
       {"trusted-key = " + secret + "==", "trusted-key " + secret + "==", "trusted-key " + secret,
        "  trusted-key: " + secret, "trusted-key = " + std::string(kKey) + " " + secret}) {
    INFO(line);
    const Config config(line + "\n");
    const BloomgateError error = error_of([&] { config.read(); });
    CHECK(error.code() == ErrorCode::bad_configuration);
    CHECK_THAT(error.what(), Contains("trusted-key") && Contains(":1:") && !Contains("SSSS"));
  }
  const Config config("trusted-key = " + secret + "==\n");
  CHECK_THAT(error_of([&] { config.read(); }).what(), Contains("as long as a secret key"));
  CHECK(error_of([] { read_daemon_command({"--config", "/dev/null", "--trusted-key", "SSSS"}); }).code() ==
        ErrorCode::bad_argument);
}

TEST_CASE("each host that has learned something has its own folder and keys") {
  const std::string key(kKey);
  const auto refusal = [](const std::string& text) {
    const Config config(text);
    return std::string(error_of([&] { config.read(); }).what());
  };
  const std::string from = "learned-from = /srv/submit1 " + key + "\n";
  const DaemonOptions options =
      Config(from + "learned-from = /srv/submit2 " + key + " " + key + "\nlearn-key = /k\ntaken-manifests = /m\n")
          .read()
          .options;
  REQUIRE(options.learned_from.size() == 2);
  CHECK(options.learned_from[0].path == "/srv/submit1");
  CHECK(options.learned_from[0].trusted_keys.size() == 1);
  CHECK(options.learned_from[1].trusted_keys.size() == 2);
  CHECK(options.learned_from[1].taken_manifests == "/m");
  CHECK(options.whitelists.front().trusted_keys.empty());
  CHECK(knows_learned(options));
  CHECK_THAT(refusal(from), Contains("learned-from") && Contains("learn-key"));
  CHECK_THAT(refusal(from + from + "learn-key = /k\n"), Contains("named twice"));
  CHECK_THAT(refusal("learned-from = /srv/submit1\nlearn-key = /k\n"), Contains("got no key"));
  CHECK_THAT(refusal("learned-from = srv " + key + "\nlearn-key = /k\n"), Contains("begins with '/'"));
  CHECK_THAT(refusal("learned-from = /srv/submit1 xyz\nlearn-key = /k\n"), !Contains("xyz"));
}

}  // namespace
}  // namespace bloomgate::test
