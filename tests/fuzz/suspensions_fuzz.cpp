// Whatever a file of suspensions holds: it is refused, or what was read is written so that the same is read again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "filter/base/error.hpp"
#include "milter/brake/suspensions.hpp"
#include "tests/fuzz/require.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomgate;
  Suspensions all;
  try {
    all = parse_suspensions({reinterpret_cast<const char*>(data), size}, "file");
  } catch (const BloomgateError& error) {
    test::require(error.code() == ErrorCode::bad_input, "what is refused is bad input");
    return 0;
  }
  test::require(parse_suspensions(suspensions_text(all), "file") == all, "what was read is written and read again");
  const std::chrono::sys_seconds now(std::chrono::seconds(1'790'000'000));
  for (const Suspension& each : Suspensions(all)) {
    suspend(all, each.entry, "@example.org", now);
    test::require(find_suspension(all, each.entry)->holds(now), "who is suspended is");
  }
  return 0;
}
