#include "filter/address/display_name.hpp"

#include <cstddef>

#include "filter/address/characters.hpp"
#include "filter/address/identifier.hpp"
#include "filter/address/local_part.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

// Outlook writes `"'joe@example.org'" <joe@example.org>`.
constexpr std::string_view kBlanksAndQuotes = " \t\"'";

// Without quotes, some readers give these characters another meaning: a list, a group, an escape, a comment.
constexpr std::string_view kNeedQuotes = ",;:\\>#";

struct Name {
  std::size_t bytes = 0;  // up to the `<`, which must be outside quoted strings
  bool has_at_sign = false;
  bool has_quoted_at_sign = false;
  bool needs_quotes = false;
};

// `bytes` is 0 if there is no `<`, or if a second quote is missing.
Name read_name(std::string_view line) noexcept {
  Name name;
  for (std::size_t at = 0; at < line.size();) {
    const char byte = line[at];
    if (byte == '<') {
      name.bytes = at;
      break;
    }
    name.has_at_sign = name.has_at_sign || byte == '@';
    name.needs_quotes = name.needs_quotes || kNeedQuotes.find(byte) != std::string_view::npos;
    const std::size_t bytes = byte == '"' ? local_part_extent(line.substr(at)) : 1;  // a quoted string like any other
    if (bytes == kUnterminated) break;
    if (bytes > 1 && line.substr(at, bytes).find('@') != std::string_view::npos) name.has_quoted_at_sign = true;
    at += bytes;
  }
  return name;
}

// The full-width and the small '@', which a person takes for an '@'.
bool has_wide_at_sign(std::string_view text) noexcept {
  return text.find("\uff20") != std::string_view::npos || text.find("\ufe6b") != std::string_view::npos;
}

}  // namespace

RejectReason skip_display_name(std::string_view& line) noexcept {
  const Name name = read_name(line);
  if (name.bytes == 0) return RejectReason::none;
  const std::string_view text = ascii::trimmed(line.substr(0, name.bytes), characters::kBlanks);
  const std::string_view rest = line.substr(name.bytes);
  const std::string_view address = rest.substr(1, rest.find('>') - 1);
  const bool is_address_again = ascii::equal_ignoring_case(ascii::trimmed(text, kBlanksAndQuotes), address);
  if (!is_address_again) {
    if (name.has_at_sign) return RejectReason::none;
    if (!text.empty() && identifier::is_unseen(text))
      return identifier::find_unseen(text, identifier::Joiners::count).reason;
    if (const RejectReason reason = characters::check(text); reason != RejectReason::none) return reason;
    if (identifier::changes_direction(text)) return RejectReason::invisible_character;
    if (name.has_quoted_at_sign || name.needs_quotes || has_wide_at_sign(text)) return RejectReason::display_name;
  }
  line = rest;
  return RejectReason::none;
}

}  // namespace bloomgate
