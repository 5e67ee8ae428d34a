// The addresses of a directory in LDIF: RFC 2849.
#include <sodium.h>

#include <algorithm>
#include <array>
#include <string>

#include "filter/base/ascii.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/foreign/foreign_list.hpp"

namespace bloomgate {
namespace {

constexpr std::array<std::string_view, 5> kAttributes = {"mail", "mailalternateaddress", "othermailbox",
                                                         "proxyaddresses", "rfc822mailbox"};

// RFC 2849: `name: value`, or `name:: value` in base64. The name may have options behind a semicolon.
struct Attribute {
  std::string name;
  std::string value;
  bool is_sound = true;

  explicit Attribute(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    name = ascii::lower_case(line.substr(0, std::min(colon, line.find(';'))));
    std::string_view rest = line.substr(colon + 1);
    const bool is_coded = rest.starts_with(':');
    rest = ascii::trimmed(rest.substr(is_coded ? 1 : 0), " ");
    if (!is_coded) {
      value = rest;
      return;
    }
    value.resize(rest.size());
    std::size_t bytes = 0;
    is_sound = sodium_base642bin(reinterpret_cast<unsigned char*>(value.data()), value.size(), rest.data(), rest.size(),
                                 nullptr, &bytes, nullptr, sodium_base64_VARIANT_ORIGINAL) == 0;
    value.resize(is_sound ? bytes : 0);
  }
};

void take(std::uint64_t number, std::string_view line, ForeignList& list) {
  Attribute attribute(line);
  if (std::ranges::find(kAttributes, attribute.name) == kAttributes.end()) return;
  if (!attribute.is_sound) return list.leave_out(number, line, "it is not in base64, as it says");
  std::string_view address = attribute.value;
  if (attribute.name == "proxyaddresses") {
    if (!ascii::equal_ignoring_case(address.substr(0, 5), "smtp:"))
      return list.leave_out(number, line, "no address of mail");
    address.remove_prefix(5);
  }
  if (address.find('@') == std::string_view::npos || address.starts_with('@')) {
    return list.leave_out(number, line, "missing-at-sign");
  }
  list.take(number, address, entry_of_text(std::string(address)), true);
}

}  // namespace

void read_directory(std::string_view text, ForeignList& list) {
  std::string line;
  std::uint64_t first = 1;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view next = take_line(text);
    // A line that begins with a space continues the one before it.
    if (next.starts_with(' ')) {
      line += next.substr(1);
      continue;
    }
    if (!line.starts_with('#')) take(first, line, list);
    line = next;
    first = number;
  }
  if (!line.starts_with('#')) take(first, line, list);
}

}  // namespace bloomgate
