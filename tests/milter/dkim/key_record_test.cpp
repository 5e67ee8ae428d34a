#include "milter/dkim/key_record.hpp"

#include <string>
#include <string_view>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// The same key of 1024 bits in its two forms.
const std::string kInfo =
    "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDC7HBooPUrRsPUAVGoq72WX+OnNzh5u8P0J6GeUQnPMOquHaC9aOW7pekHZR6w"
    "FZGMrxxo1VXPkZbd5Bi6JMOezEAnz8ru00ZxO4e1PLhmzSeJPD1E/hJr2g8Hv4uleqMZTRY3GCkCFS9bq34F8YVPckKwsW1VzlC0"
    "jy1TgiZ3YwIDAQAB";
const std::string kPkcs1 =
    "MIGJAoGBAMLscGig9StGw9QBUairvZZf46c3OHm7w/QnoZ5RCc8w6q4doL1o5bul6QdlHrAVkYyvHGjVVc+Rlt3kGLokw57MQCfP"
    "yu7TRnE7h7U8uGbNJ4k8PUT+EmvaDwe/i6V6oxlNFjcYKQIVL1urfgXxhU9yQrCxbVXOULSPLVOCJndjAgMBAAE=";

std::string outcome(const std::string& record, std::string_view algorithm = "rsa-sha256") {
  return std::string(signature_outcome_name(read_key_record(record, algorithm).outcome));
}

TEST_CASE("the statements of a key's record decide whether a signature by the key counts") {
  struct Case {
    std::string record;
    std::string_view want;
  };
  const Case cases[] = {
      {"v=DKIM1; k=rsa; p=x", "pass"},
      {"p=x", "pass"},
      {"k=rsa; p=x", "pass"},
      {" v = DKIM1; p=x;", "pass"},
      {"v=DKIM1; k=RSA; p=x", "pass"},
      {"v=DKIM1; t=s; p=x", "pass"},
      {"v=DKIM1; n=any note; zz=1; p=x", "pass"},
      {"k=rsa; v=DKIM1; p=x", "key-malformed"},
      {"p=x; v=DKIM1", "key-malformed"},
      {"v=DKIM2; p=x", "key-malformed"},
      {"v=dkim1; p=x", "key-malformed"},
      {"v=DKIM1; p=; p=x", "key-malformed"},
      {"v=DKIM1; p=x; p=", "key-malformed"},
      {"v=DKIM1; t=s; p=x; t=y", "key-malformed"},
      {"v=DKIM1; k=rsa", "key-malformed"},
      {"v=DKIM1;; p=x", "key-malformed"},
      {"", "key-malformed"},
      {"v=spf1 -all", "key-malformed"},
      {"v=DKIM1; p=", "key-revoked"},
      {"v=DKIM1; t=y; p=", "key-revoked"},
      {"v=DKIM1; t=y; p=x", "key-in-test-mode"},
      {"v=DKIM1; t=s : Y; p=x", "key-in-test-mode"},
      {"v=DKIM1; t=yes; p=x", "pass"},
      {"v=DKIM1; k=ed25519; p=x", "key-not-for-this"},
      {"v=DKIM1; k=dsa; p=x", "key-not-for-this"},
  };
  for (const Case& c : cases) {
    INFO(c.record);
    CHECK(outcome(c.record) == c.want);
  }
  CHECK(outcome("v=DKIM1; k=ed25519; p=x", "Ed25519-SHA256") == "pass");
  CHECK(outcome("v=DKIM1; p=x", "ed25519-sha256") == "key-not-for-this");
}

TEST_CASE("an RSA key in the form of PKCS 1 gets the form that the library knows") {
  CHECK(read_key_record("v=DKIM1; p=" + kPkcs1 + "; t=s", "rsa-sha256").record == "v=DKIM1; p=" + kInfo + "; t=s");
  CHECK(read_key_record("v=DKIM1; p=" + kPkcs1.substr(0, 60) + " " + kPkcs1.substr(60), "rsa-sha256").record ==
        "v=DKIM1; p=" + kInfo);
  // Of 2048 bits: what comes first is of 24 bytes, and so of whole groups of base64.
  const std::string key = "MIIBCgKCAQEA" + std::string(348, 'A');
  CHECK(read_key_record("p=" + key, "rsa-sha256").record == "p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A" + key);
}

TEST_CASE("everything else about a key stays unchanged") {
  for (const std::string& key :
       {kInfo, std::string("x"), std::string("QUJD"), std::string("MAA="), std::string("MIL//wIB"), std::string("MIA="),
        std::string("MIMAAAQCAQEA"), kPkcs1.substr(4), kPkcs1.substr(0, 40), kPkcs1 + "AAAA"}) {
    INFO(key);
    const std::string record = "v=DKIM1; p=" + key;
    CHECK(read_key_record(record, "rsa-sha256").record == record);
  }
  const std::string other = "v=DKIM1; k=ed25519; p=" + kPkcs1;
  CHECK(read_key_record(other, "ed25519-sha256").record == other);
}

TEST_CASE("a record that becomes too long for the library is refused") {
  const std::string note(1000 - kPkcs1.size(), 'n');
  CHECK(outcome("v=DKIM1; n=" + note + "; p=" + kPkcs1) == "key-too-long");
}

}  // namespace
}  // namespace bloomgate
