// Reads arbitrary bytes as the text of a key: what is taken is the one text of that key, and what is refused is not
// shown.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "filter/base/public_key.hpp"
#include "tests/fuzz/require.hpp"

using bloomgate::test::require;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto key = PublicKey::parse(text)) {
    require(key->text() == text, "a key has one text");
  } else {
    require(public_key_fault(text) == public_key_fault(std::string(size, '!')),
            "of what is refused only its length shows");
  }
  std::array<std::uint8_t, 64> secret;
  if (read_base64(text, secret)) require(base64_of(secret) == text, "64 bytes have one text");
  // Whatever the bytes are, their text is read.
  if (size >= PublicKey::kBytes) {
    PublicKey key;
    std::copy_n(data, PublicKey::kBytes, key.bytes.begin());
    require(PublicKey::parse(key.text()) == key, "the text of a key is read");
  }
  return 0;
}
