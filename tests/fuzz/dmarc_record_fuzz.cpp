// Whatever the text of a record is: only one that begins with the version of DMARC lets other domains sign, and only as
// long as it says nothing else anywhere.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "filter/base/ascii.hpp"
#include "milter/dkim/dmarc_record.hpp"
#include "tests/fuzz/require.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomgate;
  using test::require;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Adkim found = read_adkim(text);
  const std::string lower = ascii::lower_case(text);
  if (found != Adkim::no_record) require(lower.find("dmarc") != std::string::npos, "a record has a version");
  if (found == Adkim::relaxed) {
    const std::size_t start = lower.find_first_not_of(" \t\r\n");
    require(lower[start] == 'v' && text.find("DMARC1") != std::string::npos, "this version is the first tag");
    require(read_adkim(text + ";adkim=s;adkim=s") == Adkim::strict, "a tag twice makes a record invalid");
    if (lower.find("adkim") == std::string::npos) {
      require(read_adkim(text + ";adkim=s") == Adkim::strict, "a strict owner is heard");
    }
  }
  return 0;
}
