// Whatever a manifest holds: it is refused, or it is the one text of its content, but for the signature. So are its
// pieces, written again under a key of the test.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/keep/manifest.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/support/test_keys.hpp"

namespace {

using namespace bloomgate;
using bloomgate::test::require;

constexpr std::string_view kSigner = "\nsigner ";

// All before the signer, who is another one where the text is signed again.
std::string_view content_of(std::string_view text) {
  return text.substr(0, text.rfind(kSigner));
}

void check_taken(const SignedManifest& read, std::string_view text) {
  require(text.size() <= kMostManifestBytes, "a manifest is no larger than it may be");
  const std::string again = sign_manifest(read.manifest, test::signing_key());
  require(content_of(again) == content_of(text), "a content has one text", text);
  require(text.substr(content_of(text).size() + kSigner.size()).starts_with(read.signer.text()), "it has its signer");
  if (read.signer == test::signing_key().public_key()) require(again == text, "a text has one signature", text);
  const SignedManifest same = parse_manifest(again, "again");
  require(same.manifest == read.manifest && same.signer == test::signing_key().public_key(), "what is written is read");
}

void parse(std::string_view text) {
  try {
    check_taken(parse_manifest(text, "file"), text);
  } catch (const BloomgateError& error) {
    require(error.code() == ErrorCode::bad_input, "what is refused is bad input", error.what());
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  parse(text);
  // No fuzzer finds a signature: what comes before the signer is signed here.
  const SecretKey key = test::signing_key();
  std::string made(content_of(text));
  made.append(kSigner).append(key.public_key().text()).append("\n");
  made += "signature " + base64_of(key.sign(std::as_bytes(std::span(made)))) + "\n";
  parse(made);
  return 0;
}
