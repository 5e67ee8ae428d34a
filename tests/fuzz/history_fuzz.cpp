// Whatever a file of the decisions' history holds: what was read is written so that the same is read again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "milter/monitoring/decision_history.hpp"
#include "tests/fuzz/require.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomgate;
  DecisionHistory history;
  history.restore({reinterpret_cast<const char*>(data), size});
  const std::string text = history.text();
  DecisionHistory again;
  test::require(!again.restore(text), "what is written is a history");
  test::require(again.text() == text, "what was read is written and read again");
  return 0;
}
