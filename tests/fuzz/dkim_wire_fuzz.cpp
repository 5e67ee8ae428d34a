// Whatever bytes come from the other process: they are refused, or are what their reader would write again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milter/dkim/wire.hpp"
#include "tests/fuzz/require.hpp"

using namespace bloomgate;
using bloomgate::test::require;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto head = wire::read_head(bytes)) require(wire::head_bytes(*head) == bytes);
  if (const auto request = wire::decode_request(bytes)) {
    const std::vector<std::string_view> header(request->header.begin(), request->header.end());
    const std::string again = wire::encode({.header = header, .need = request->need, .now = request->now});
    require(again.size() == bytes.size() && wire::decode_request(again).has_value());
  }
  if (const auto signatures = wire::decode_signatures(bytes)) {
    require(signatures->all.size() <= kMaxVerifiedSignatures);
    require(signatures->owner_rules.size() <= kMaxOwnerRules);
    require(wire::decode_signatures(wire::encode(*signatures)).has_value());
  }
  if (const auto options = wire::decode_options(bytes))
    require(wire::decode_options(wire::encode(*options)).has_value());
  if (const auto note = wire::decode_note(bytes)) {
    const std::string again = wire::encode(*note);
    require(again.size() <= wire::kMaxNoteBytes && wire::decode_note(again).has_value());
  }
  return 0;
}
