// Whatever bytes come as rspamd's answer: they are refused in words, or give a result that can be put into a header.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "milter/deep_check/rspamd_reply.hpp"
#include "tests/fuzz/deep_result_checks.hpp"

namespace bloomgate::test {
namespace {

std::optional<DeepResult> read(std::string_view text) {
  return read_with(parse_rspamd_reply, text);
}

}  // namespace
}  // namespace bloomgate::test

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomgate::test;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto result = read(text);
  if (!result) return 0;
  require_sound(*result);
  require(read(" " + std::string(text)).has_value(), "space before it changes nothing", text);
  return 0;
}
