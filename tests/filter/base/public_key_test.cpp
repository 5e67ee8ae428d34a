#include "filter/base/public_key.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("the text of a public key is read as its bytes") {
  const PublicKey key = signing_key().public_key();
  CHECK(key.text() == kSigningKeyText);
  CHECK(PublicKey::parse(key.text()) == key);
  PublicKey every;
  for (unsigned value = 0; value < 256; ++value) {
    every.bytes.fill(static_cast<std::uint8_t>(value));
    CAPTURE(value);
    CHECK(every.text().size() == PublicKey::kTextCharacters);
    CHECK(PublicKey::parse(every.text()) == every);
  }
}

TEST_CASE("a key has exactly one text, and every other text is refused") {
  const std::string text = kSigningKeyText;
  const auto with = [&](std::size_t at, char character) {
    std::string changed = text;
    changed[at] = character;
    return changed;
  };
  const std::vector<std::string> refused = {
      "",
      "=",
      text.substr(0, 43),
      text + "=",
      " " + text.substr(0, 43),
      text + "\n",
      with(43, 'A'),  // no padding
      with(42, '='),  // 31 bytes
      with(42, 'p'),  // bits behind the last byte
      with(3, '-'),   // of the other alphabet
      with(3, '_'),
      with(3, ' '),
      with(3, '\0'),
      with(3, '\n'),
      with(0, '='),
      std::string(42, 'A') + "==",  // 31 bytes, and nothing behind them
  };
  for (const std::string& each : refused) {
    CAPTURE(each);
    CHECK_FALSE(PublicKey::parse(each));
  }
  for (int value = 128; value < 256; ++value) {
    CAPTURE(value);
    CHECK_FALSE(PublicKey::parse(with(3, static_cast<char>(value))));
  }
}

TEST_CASE("the error about a bad key does not repeat it, and says if it may be a secret key") {
  const std::string secret(kSecretKeyTextCharacters, 'S');
  CHECK_THAT(public_key_fault(secret), Contains("secret key") && !Contains("SS"));
  CHECK_THAT(public_key_fault("S"), Contains("of 1 character") && !Contains("1 characters"));
  CHECK_THAT(public_key_fault("SSSS"), Contains("of 4 characters") && !Contains("SS") && !Contains("as long as"));
  CHECK_THAT(public_key_fault(std::string(PublicKey::kTextCharacters, '.')),
             Contains("of that length") && !Contains("..") && !Contains("as long as"));
}

}  // namespace
}  // namespace bloomgate::test
