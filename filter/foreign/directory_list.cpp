// The addresses of a directory in LDIF: RFC 2849.
#include <sodium.h>

#include <algorithm>
#include <array>
#include <string>

#include "filter/base/ascii.hpp"
#include "filter/foreign/foreign_lines.hpp"
#include "filter/foreign/foreign_list.hpp"

namespace bloomgate {
namespace {

constexpr std::array<std::string_view, 5> kAttributes = {"mail", "mailalternateaddress", "othermailbox",
                                                         "proxyaddresses", "rfc822mailbox"};

// RFC 2849: `name: value`, or `name:: value` in base64. The name may have options after a semicolon.
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

class Directory {
 public:
  explicit Directory(ForeignList& list) : list_(list) {}

  // Reads a whole line, unfolded. An empty line ends a record; "-" ends one change of it.
  void read(std::uint64_t number, std::string_view line) {
    if (line.starts_with('#')) return;
    if (line.empty() || line == "-") {
      is_removal_ = line == "-" ? is_removed_record_ : false;
      is_removed_record_ = is_removed_record_ && !line.empty();
      return;
    }
    Attribute attribute(line);
    if (attribute.name == "dn") record_ = "dn " + ascii::lower_case(attribute.value) + ' ';
    if (attribute.name == "changetype") {
      is_removed_record_ = is_removal_ = attribute.value == "delete";
      if (is_removed_record_) {
        for (const std::string_view name : kAttributes) list_.take_back_all(record_ + std::string(name));
      }
    }
    if (attribute.name == "delete") is_removal_ = true;
    if (attribute.name == "add" || attribute.name == "replace") is_removal_ = is_removed_record_;
    if (attribute.name == "replace") list_.take_back_all(record_ + ascii::lower_case(attribute.value));
    if (std::ranges::find(kAttributes, attribute.name) != kAttributes.end()) take(number, line, attribute);
  }

 private:
  void take(std::uint64_t number, std::string_view line, const Attribute& attribute) {
    if (!attribute.is_sound) return list_.leave_out(number, line, "it is not in base64, as it says");
    std::string_view address = attribute.value;
    if (attribute.name == "proxyaddresses") {
      if (!ascii::equal_ignoring_case(address.substr(0, 5), "smtp:")) {
        return list_.leave_out(number, line, "no address of mail");
      }
      address.remove_prefix(5);
    }
    if (address.find('@') == std::string_view::npos || address.starts_with('@')) {
      return list_.leave_out(number, line, "missing-at-sign");
    }
    const std::string form = record_ + attribute.name;
    if (is_removal_) return list_.take_back(number, address, form);
    list_.take(number, address, entry_of_text(std::string(address)), true, form);
  }

  ForeignList& list_;
  std::string record_ = "dn ";  // the name of the record, as the beginning of a form
  bool is_removal_ = false;
  bool is_removed_record_ = false;
};

}  // namespace

void read_directory(std::string_view text, ForeignList& list) {
  Directory directory(list);
  std::string line;
  std::uint64_t first = 1;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view next = take_foreign_line(text);
    // A line that begins with a space continues the one before it.
    if (next.starts_with(' ')) {
      line += next.substr(1);
      continue;
    }
    if (number != 1) directory.read(first, line);
    line = next;
    first = number;
  }
  directory.read(first, line);
}

}  // namespace bloomgate
