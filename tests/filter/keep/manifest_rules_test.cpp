// What may follow a manifest that was taken.
#include "filter/keep/manifest_rules.hpp"

#include <limits>

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

constexpr std::uint64_t kLastNumber = std::numeric_limits<std::int64_t>::max();

SignedManifest manifest_of(std::uint64_t number, const SecretKey& key, const std::string& list = "customers") {
  const std::chrono::sys_seconds made(std::chrono::seconds(1'795'926'780));
  return parse_manifest(
      sign_manifest({.list = list, .number = number, .made = made, .holds_until = made + kManifestHolds}, key),
      "manifest");
}

SignedManifest naming(const SecretKey& next, const SecretKey& key) {
  Manifest manifest = manifest_of(1, key).manifest;
  manifest.next_key = next.public_key();
  return parse_manifest(sign_manifest(manifest, key), "manifest");
}

TEST_CASE("an older manifest, another list and another manifest of the same number may not follow") {
  const TrustedKeys keys = {signing_key().public_key()};
  const SignedManifest last = manifest_of(7, signing_key());
  CHECK_NOTHROW(require_not_before(last, last, keys, "manifest"));
  CHECK_NOTHROW(require_not_before(last, std::nullopt, keys, "manifest"));
  CHECK_NOTHROW(require_not_before(manifest_of(8, signing_key()), last, keys, "manifest"));
  const auto refusal = [&](const SignedManifest& found) {
    const BloomgateError error = error_of([&] { require_not_before(found, last, keys, "URL/manifest"); });
    CHECK(error.code() == ErrorCode::bad_input);
    return std::string(error.what());
  };
  CHECK_THAT(refusal(manifest_of(6, signing_key())), Contains("URL/manifest has the number 6, and 7 was taken before"));
  CHECK_THAT(refusal(manifest_of(8, signing_key(), "partners")), Contains("is of the list 'partners'"));
  CHECK_THAT(refusal(manifest_of(7, other_signing_key())), Contains("says something else"));
}

TEST_CASE("a manifest of a key that is no longer trusted binds nothing that follows under another key") {
  const SignedManifest found = manifest_of(7, other_signing_key());
  for (const SignedManifest& last : {manifest_of(kLastNumber, signing_key()), manifest_of(8, signing_key(), "partners"),
                                     manifest_of(7, signing_key())}) {
    CHECK_NOTHROW(require_not_before(found, last, {other_signing_key().public_key()}, "manifest"));
    CHECK_THROWS_AS(
        require_not_before(found, last, {signing_key().public_key(), other_signing_key().public_key()}, "manifest"),
        BloomgateError);
  }
}

TEST_CASE("a manifest of a key that a trusted one has named binds as long as the trusted one is configured") {
  const std::optional<SignedManifest> names_key = naming(other_signing_key(), signing_key());
  const TrustedKeys keys = keys_with_next({signing_key().public_key()}, names_key);
  const SignedManifest last = manifest_of(8, other_signing_key());
  CHECK_THROWS_AS(require_not_before(manifest_of(7, signing_key()), last, keys, "manifest"), BloomgateError);
  CHECK(keys_with_next({PublicKey{}}, names_key) == TrustedKeys{PublicKey{}});
}

TEST_CASE("the refusal of an unknown key says that it may be one that was named") {
  const SignedManifest found = manifest_of(7, other_signing_key());
  CHECK_NOTHROW(require_trusted(found, {other_signing_key().public_key()}, "manifest"));
  const BloomgateError error = error_of([&] { require_trusted(found, {signing_key().public_key()}, "manifest"); });
  CHECK(error.code() == ErrorCode::bad_signature);
  CHECK_THAT(error.what(), Contains("is no trusted key") && Contains("add this key to the trusted ones (trusted-key)"));
}

}  // namespace
}  // namespace bloomgate::test
