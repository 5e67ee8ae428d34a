// Whatever bytes come as spamd's answer: they are refused in words, or give a result that can be put into a header.
// What was taken is taken with more behind it, too, and one that breaks off in its header is not.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "milter/deep_check/spamd_reply.hpp"
#include "tests/fuzz/deep_result_checks.hpp"

namespace bloomgate::test {
namespace {

std::optional<DeepResult> read(std::string_view text) {
  return read_with(parse_spamd_reply, text);
}

}  // namespace
}  // namespace bloomgate::test

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomgate::test;
  try {
    bloomgate::require_pong({reinterpret_cast<const char*>(data), size});
  } catch (const bloomgate::CheckerError&) {
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto result = read(text);
  if (!result) return 0;
  require_sound(*result);
  require(read(std::string(text) + "X").has_value(), "it may have more than it says", text);
  const std::size_t line_end = text.find('\n');
  require(!read(text.substr(0, line_end + 1)), "a part of it is not taken for all", text);
  return 0;
}
