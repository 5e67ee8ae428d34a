#include "filter/file/secret_key.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

namespace fs = std::filesystem;

// A text that is to be a key's, in a file that only its owner may read.
std::string key_file(const TemporaryFolder& folder, const std::string& text) {
  const std::string path = folder.file("some.key");
  write_file(path, text);
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  return path;
}

std::string secret_text(const TemporaryFolder& folder, const SecretKey& key) {
  key.write_to(folder.file("written.key"));
  const std::string text = read_file(folder.file("written.key"));
  fs::remove(folder.file("written.key"));
  return text.substr(text.size() - kSecretKeyTextCharacters - 1, kSecretKeyTextCharacters);
}

TEST_CASE("a secret key signs as in RFC 8032") {
  CHECK(signing_key().public_key().text() == kSigningKeyText);
  const SignatureBytes signature = signing_key().sign({});
  CHECK(base64_of(signature) ==
        "5VZDAMNgrHKQhuLMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc+bRr0lv18FlbviRlUUFDjnoQCw==");
}

TEST_CASE_METHOD(InFolder, "a secret key is kept in a file that its owner alone may read") {
  const mode_t mask = umask(0);
  const SecretKey key = SecretKey::make();
  key.write_to(folder.file("key"));
  umask(mask);
  struct stat status = {};
  REQUIRE(stat(folder.file("key").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  CHECK(SecretKey::read_from(folder.file("key")).public_key() == key.public_key());
  CHECK(SecretKey::make().public_key() != key.public_key());
}

TEST_CASE_METHOD(InFolder, "a new key never overwrites an existing file") {
  signing_key().write_to(folder.file("key"));
  const std::string before = read_file(folder.file("key"));
  CHECK(error_code_of([&] { other_signing_key().write_to(folder.file("key")); }) == ErrorCode::cannot_write);
  CHECK(read_file(folder.file("key")) == before);
  CHECK(error_code_of([&] { signing_key().write_to(folder.file("no/key")); }) == ErrorCode::cannot_write);
  CHECK_THROWS_WITH(signing_key().write_to(folder.file("key")), Contains("is there already"));
  CHECK_THROWS_WITH(signing_key().write_to(folder.file("no/key")), !Contains("is there already"));
}

TEST_CASE_METHOD(InFolder, "an invalid secret key is refused, and the message does not show it") {
  const std::string good = secret_text(folder, signing_key());
  const std::string other = secret_text(folder, other_signing_key());
  CHECK(SecretKey::read_from(key_file(folder, good)).public_key() == signing_key().public_key());
  CHECK(SecretKey::read_from(key_file(folder, "# mine\n\n" + good + "\n")).public_key() == signing_key().public_key());
  // The largest file that can be a key's, and a byte more.
  const std::string filled = "# " + std::string(4096 - 4 - good.size(), 'x') + "\n" + good + "\n";
  CHECK_NOTHROW(SecretKey::read_from(key_file(folder, filled)));
  const std::string long_text = "#" + filled;
  for (const std::string& bad :
       {std::string(), std::string("\n"), std::string("# " + good + "\n"), good.substr(0, 87), good + "=", good + good,
        good + "\n" + other + "\n", other.substr(0, 43) + good.substr(43), std::string(kSecretKeyTextCharacters, 'A'),
        std::string(kSigningKeyText), long_text, std::string("\xff\xfe") + good}) {
    CAPTURE(bad);
    const std::string path = key_file(folder, bad);
    CHECK(error_code_of([&] { SecretKey::read_from(path); }) == ErrorCode::bad_input);
    CHECK_THROWS_WITH(SecretKey::read_from(path), Contains("secret key") && !Contains(good.substr(0, 10)));
  }
  CHECK_THROWS_WITH(SecretKey::read_from(key_file(folder, kSigningKeyText)), Contains("has a public key in it"));
}

TEST_CASE_METHOD(InFolder, "a secret key that others may read is refused, and so is a path that is not a file") {
  signing_key().write_to(folder.file("key"));
  for (const mode_t mode : {0604U, 0602U, 0644U}) {
    REQUIRE(chmod(folder.file("key").c_str(), mode) == 0);
    CHECK(error_code_of([&] { SecretKey::read_from(folder.file("key")); }) == ErrorCode::not_permitted);
  }
  REQUIRE(chmod(folder.file("key").c_str(), 0440) == 0);  // as systemd hands out a credential
  CHECK_NOTHROW(SecretKey::read_from(folder.file("key")));
  CHECK(error_code_of([&] { SecretKey::read_from(folder.file("no")); }) == ErrorCode::cannot_open);
  CHECK(error_code_of([&] { SecretKey::read_from(folder.path().string()); }) == ErrorCode::not_a_regular_file);
  REQUIRE(mkfifo(folder.file("fifo").c_str(), 0600) == 0);  // which nobody writes to
  CHECK(error_code_of([&] { SecretKey::read_from(folder.file("fifo")); }) == ErrorCode::not_a_regular_file);
}

}  // namespace
}  // namespace bloomgate::test
