// Whatever a file of learned pairs holds: it is refused, or it is the one text of its content.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/share/shared_pairs.hpp"
#include "tests/fuzz/require.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const SharedPairs pairs(text, "file");
    std::vector<SharedRecord> records;
    for (std::size_t i = 0; i < pairs.size(); ++i) records.push_back(pairs[i]);
    test::require(shared_text(pairs.header(), records) == text, "a content has one text", text);
  } catch (const BloomgateError& error) {
    const bool is_known = error.code() == ErrorCode::bad_input || error.code() == ErrorCode::bad_magic ||
                          error.code() == ErrorCode::unsupported_version;
    test::require(is_known, "what is refused is bad input", error.what());
  }
  test::require(number_of_shared_file(text) == 0 || shared_file_name(number_of_shared_file(text)) == text,
                "a number has one name", text);
  return 0;
}
