// Whose a mailbox is: any pattern and path, and any file of addresses and logins, which operators copy from their mail
// server. The first line is the pattern, the second one a login, the rest the file.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/contacts/owners.hpp"
#include "filter/contacts/source_reader.hpp"
#include "filter/mail/mail_header.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace bloomgate;
using bloomgate::test::require;

// The pattern with a name in the place of each sign.
std::string path_of(std::string_view pattern, std::string_view name, std::string_view domain) {
  std::string path;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char sign = pattern[at] == '%' && at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    if (sign == 'u' || sign == 'n' || sign == 'd') {
      path.append(sign == 'd' ? domain : name);
      ++at;
    } else {
      path += pattern[at];
    }
  }
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();  // as a pattern's last ones do not count
  return path;
}

void check_pattern(std::string_view text) {
  if (!OwnerPattern::is_pattern(text)) return;
  try {
    const OwnerPattern pattern(text);
    const std::optional<std::string> owner = pattern.owner_of(path_of(text, "Ann.B", "Ours.example"));
    require(owner == "ann.b" || owner == "ann.b@ours.example", "the owner is what stands at the signs", text);
    // Any text as a path.
    if (const auto other = pattern.owner_of(text)) {
      require(!other->empty() && other->find('/') == std::string::npos, "an owner is a part of a path", text);
    }
  } catch (const UsageError&) {
    // It does not say one name.
  }
}

void check_addresses(std::string_view login, std::string_view file_text) {
  static const int file = memfd_create("logins", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, file_text.data(), file_text.size(), 0) < 0) std::abort();
  static const OwnDomains kOwnDomains({"ours.example", ".tree.example"});
  OwnerAddresses addresses(kOwnDomains);
  try {
    addresses.read(path);
  } catch (const BloomgateError& error) {
    require(error.code() == ErrorCode::bad_input, error.what());
  }
  const std::vector<std::string> found = addresses.of(login);
  require(std::ranges::adjacent_find(found, std::ranges::greater_equal()) == found.end(), "each once, in order", login);
  for (const std::string& each : found) {
    const Entry entry = canonicalize_path(each);
    require(entry.kind() == EntryKind::address && entry.key() == each, "an address", each);
    require(kOwnDomains.contains(entry.domain()), "an address in an own domain", each);
    // It stands in the file, or is the login itself.
    const std::string lower = ascii::lower_case(login);
    require(
        canonicalize_path(lower).key() == each || ascii::find_ignoring_case(file_text, lower) != std::string_view::npos,
        "nobody else's address", each);
  }
  require(addresses.of(ascii::lower_case(login)) == found, "a login in any case", login);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  check_pattern(take_text_line(text));
  const std::string_view login = take_text_line(text);
  check_addresses(login, text);
  return 0;
}
