#include "filter/keep/manifest_rules.hpp"

#include <algorithm>

#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

bool has_key(const TrustedKeys& keys, const PublicKey& key) noexcept {
  return std::ranges::find(keys, key) != keys.end();
}

}  // namespace

TrustedKeys keys_with_next(const TrustedKeys& configured, const std::optional<SignedManifest>& names_key) {
  TrustedKeys keys = configured;
  if (names_key && names_key->manifest.next_key && has_key(configured, names_key->signer)) {
    keys.push_back(*names_key->manifest.next_key);
  }
  return keys;
}

std::optional<SignedManifest> namer_after(const TrustedKeys& configured, const std::optional<SignedManifest>& names_key,
                                          const SignedManifest& taken) {
  if (!has_key(configured, taken.signer)) return names_key;
  return taken.manifest.next_key ? std::optional(taken) : std::nullopt;
}

void require_trusted(const SignedManifest& found, const TrustedKeys& keys, const std::string& where) {
  if (has_key(keys, found.signer)) return;
  throw BloomgateError(ErrorCode::bad_signature,
                       where + " is signed by " + found.signer.text() +
                           ", which is no trusted key; sign it with a trusted one (bloomgate sign --key KEYFILE), or "
                           "add this key to the trusted ones (trusted-key) if a manifest of a trusted key has named it "
                           "as the next one",
                       {.path = where});
}

void require_not_before(const SignedManifest& found, const std::optional<SignedManifest>& last, const TrustedKeys& keys,
                        const std::string& where) {
  if (!last || !has_key(keys, last->signer)) return;
  const Manifest& is = found.manifest;
  const Manifest& was = last->manifest;
  const auto refuse = [&](const std::string& why) {
    throw BloomgateError(ErrorCode::bad_input, where + " " + why, {.path = where});
  };
  if (is.list != was.list) {
    refuse("is of the list '" + is.list + "', and that of '" + was.list +
           "' was taken before: it is another list under the same key; if that is meant, name it by another path");
  }
  const std::string number = std::to_string(is.number);
  if (is.number < was.number) {
    refuse(
        "has the number " + number + ", and " + std::to_string(was.number) +
        " was taken before: an old state has come back; if its publisher wants that, 'bloomgate rollback' gives it a "
        "new number");
  }
  if (is.number == was.number && found.text != last->text) {
    refuse("has the number " + number +
           ", as the one that was taken before, and says something else: its publisher has made two; let a new one be "
           "made (bloomgate sign)");
  }
}

}  // namespace bloomgate
