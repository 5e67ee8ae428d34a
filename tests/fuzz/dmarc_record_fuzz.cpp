// Whatever the text of a record is: only one that begins with the version of DMARC says anything, and what it says is
// heard as long as it says nothing else anywhere.
#include <cstddef>
#include <cstdint>
#include <optional>
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
  const std::optional<DmarcRecord> found = read_dmarc_record(text);
  if (!found) return 0;
  const std::string lower = ascii::lower_case(text);
  require(lower.find("dmarc") != std::string::npos, "a record has a version");
  if (*found == DmarcRecord{}) return 0;
  const std::size_t start = lower.find_first_not_of(" \t\r\n");
  require(lower[start] == 'v' && text.find("DMARC1") != std::string::npos, "this version is the first tag");
  require(read_dmarc_record(text + ";adkim=s;adkim=s") == DmarcRecord{}, "a tag twice makes a record invalid");
  if (lower.find("adkim") == std::string::npos) {
    require(found->adkim == Adkim::relaxed && read_dmarc_record(text + ";adkim=s")->adkim == Adkim::strict,
            "a strict owner is heard");
  }
  if (lower.find("psd") == std::string::npos) {
    require(found->psd == Psd::not_said && read_dmarc_record(text + ";psd=n")->psd != Psd::not_said,
            "an owner's word on names below is heard");
  }
  return 0;
}
