#include "tests/milter/dkim/signing.hpp"

#include <sys/types.h>
// libopendkim's header is for C, whose name for it this is.
#define _Bool bool
#include <dkim.h>
#undef _Bool

#include <array>
#include <stdexcept>

namespace bloomgate::test {
namespace {

// Made for these tests: nobody's.
constexpr char kPrivateKey[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEAAoGBAMLscGig9StGw9QB\n"
    "UairvZZf46c3OHm7w/QnoZ5RCc8w6q4doL1o5bul6QdlHrAVkYyvHGjVVc+Rlt3k\n"
    "GLokw57MQCfPyu7TRnE7h7U8uGbNJ4k8PUT+EmvaDwe/i6V6oxlNFjcYKQIVL1ur\n"
    "fgXxhU9yQrCxbVXOULSPLVOCJndjAgMBAAECgYBunMm1NhGqez/JYO477ylo2gVP\n"
    "8LAltH2gYZT/SDFu1+103O9ITOyBLcctIR7nAXZVBVHz04wcfBvG0xeNGiu/Rc8T\n"
    "KmZE29iYcQ15I3f3pzGEG1HSATDeX/1xNHPTfiqqpG38SMqUY4iHms8vg9SiEljZ\n"
    "hvjZXBDeXvvhunEgUQJBAOKEoLU0s5utfGjD5R0t75bPuSCMrJhwf2d7q4gCGMP6\n"
    "M7gTLLWzAkbdEjKP6mIac4G0qGhiGcopYv8rw4agoJcCQQDcSxzBnRsxqugeX+dM\n"
    "83lE9KcsNf1iw0/aq5UI35S2V44SEXo1srDBFbs1EQFQJIJ84H+XtO0Kpm14M3Mc\n"
    "T20VAkAb0CsndMwk7l1bQ8prFcvYWbMigwNiSFXsb+v07ET8M0mMbZZMzSkXaGem\n"
    "m7MszpCmOXeAMaN3BjPonwgIDMsLAkB0mwWzrndwiOio+1axssbkKyQ6ELH5Dy07\n"
    "sEsJEV/kTOAUzE+GEPnimqAnbMLnKwwvEZ44LTqzwnh7gbBSsfApAkAWt8k5LXvs\n"
    "xrfLh0FwSiMidRGTaEFsgg1ivLgkAsxilFf8g3PXWiWhJVHZr2/z96+tUqpx42zy\n"
    "Ld2DE3SUAY6K\n"
    "-----END PRIVATE KEY-----\n";

unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
}

void require(DKIM_STAT status) {
  if (status != DKIM_STAT_OK) throw std::runtime_error(dkim_getresultstr(status));
}

}  // namespace

const char* const kKeyRecord =
    "s1._domainkey.example.org. 3600 IN TXT \"v=DKIM1; p="
    "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDC7HBooPUrRsPUAVGoq72WX+OnNzh5u8P0J6GeUQnPMOquHaC9aOW7pekHZR6w"
    "FZGMrxxo1VXPkZbd5Bi6JMOezEAnz8ru00ZxO4e1PLhmzSeJPD1E/hJr2g8Hv4uleqMZTRY3GCkCFS9bq34F8YVPckKwsW1VzlC0"
    "jy1TgiZ3YwIDAQAB"
    "\"";

std::string key_record(const std::string& domain) {
  const std::string record = kKeyRecord;
  return "s1._domainkey." + domain + record.substr(record.find(". 3600"));
}

SignedMessage sign(const std::vector<std::string>& header, const std::string& body, const std::string& domain) {
  DKIM_LIB* const library = dkim_init(nullptr, nullptr);
  DKIM_STAT status = DKIM_STAT_OK;
  DKIM* const message =
      dkim_sign(library, bytes_of("x"), nullptr, bytes_of(kPrivateKey), bytes_of("s1"), bytes_of(domain),
                DKIM_CANON_RELAXED, DKIM_CANON_RELAXED, DKIM_SIGN_RSASHA256, -1, &status);
  require(status);
  for (const std::string& field : header) require(dkim_header(message, bytes_of(field), field.size()));
  require(dkim_eoh(message));
  if (!body.empty()) require(dkim_body(message, bytes_of(body), body.size()));
  require(dkim_eom(message, nullptr));
  std::array<unsigned char, 4096> field = {};
  require(dkim_getsighdr(message, field.data(), field.size(), 16));
  SignedMessage made;
  made.header.push_back("DKIM-Signature: " + std::string(reinterpret_cast<const char*>(field.data())));
  made.header.insert(made.header.end(), header.begin(), header.end());
  made.body = body;
  dkim_free(message);
  dkim_close(library);
  return made;
}

}  // namespace bloomgate::test
