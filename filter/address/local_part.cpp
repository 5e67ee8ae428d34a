#include "filter/address/local_part.hpp"

#include <unicase.h>
#include <uninorm.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "filter/address/characters.hpp"
#include "filter/address/identifier.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

bool is_dot_string(std::string_view content) noexcept {
  return !content.empty() && content.front() != '.' && content.back() != '.' &&
         content.find("..") == std::string_view::npos &&
         std::all_of(content.begin(), content.end(), characters::may_stand_unquoted);
}

// Writes the content of a quoted string. `quoted` has its quotes, and no control characters. Returns false if a
// backslash is before a byte that RFC 5321 does not allow to escape, that is, one beyond ASCII.
bool unquote(std::string_view quoted, FixedText<kMaxInputBytes>& content) noexcept {
  for (std::size_t at = 1; at + 1 < quoted.size(); ++at) {
    if (quoted[at] == '\\' && !ascii::is_ascii(quoted[++at])) return false;
    content.append(quoted[at]);
  }
  return true;
}

// A text in NFC, or folded to one case and then in NFC. A second call changes nothing: folding decomposes first, so
// that no mark hides a letter, and its result for any code point is already folded and stays folded when composed.
class Normalized {
 public:
  enum class Form : bool { composed, folded };

  Normalized(std::string_view text, Form form) noexcept : size_(kRoomBytes) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    bytes_ = form == Form::composed
                 ? u8_normalize(UNINORM_NFC, bytes, text.size(), room_.data(), &size_)
                 : u8_casefold(bytes, text.size(), /*iso639_language=*/nullptr, UNINORM_NFC, room_.data(), &size_);
  }
  ~Normalized() {
    if (bytes_ != room_.data()) std::free(bytes_);
  }
  Normalized(const Normalized&) = delete;
  Normalized& operator=(const Normalized&) = delete;

  // For valid UTF-8 this fails only if memory runs out.
  bool failed() const noexcept { return bytes_ == nullptr; }
  std::string_view view() const noexcept { return {reinterpret_cast<const char*>(bytes_), size_}; }

 private:
  static constexpr std::size_t kRoomBytes = 4 * kMaxLocalPartBytes;
  std::array<std::uint8_t, kRoomBytes> room_;  // for longer texts the library allocates
  std::size_t size_;
  std::uint8_t* bytes_;
};

RejectReason write(std::string_view content, bool keep_case, LocalPart& out) noexcept {
  const bool quoted = !is_dot_string(content);
  if (quoted) out.append('"');
  for (const char byte : content) {
    if (quoted && (byte == '"' || byte == '\\')) out.append('\\');
    out.append(keep_case ? byte : ascii::to_lower(byte));
  }
  if (quoted) out.append('"');
  return out.overflowed() ? RejectReason::address_too_long : RejectReason::none;
}

// Writes the content without its tag. The limit applies to the whole local part, so that an address is valid either for
// every profile or for none.
RejectReason write_untagged(std::string_view content, AddressProfile profile, LocalPart& out) noexcept {
  const std::size_t untagged_bytes = profile.tag_separators.untagged_bytes(content);
  if (untagged_bytes != content.size()) {
    LocalPart whole;
    const RejectReason reason = write(content, profile.keep_local_part_case, whole);
    if (reason != RejectReason::none) return reason;
  }
  return write(content.substr(0, untagged_bytes), profile.keep_local_part_case, out);
}

}  // namespace

std::size_t local_part_extent(std::string_view text) noexcept {
  if (!text.starts_with('"')) {
    const auto* end = std::find_if_not(text.begin(), text.end(), characters::may_stand_unquoted);
    return static_cast<std::size_t>(end - text.begin());
  }
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? std::size_t{2} : std::size_t{1};
  return at < text.size() ? at + 1 : kUnterminated;
}

RejectReason canonicalize_local_part(std::string_view text, AddressProfile profile, LocalPart& out) noexcept {
  if (const RejectReason reason = characters::check(text); reason != RejectReason::none) return reason;
  FixedText<kMaxInputBytes> unquoted;
  std::string_view content = text;
  if (text.starts_with('"')) {
    if (!unquote(text, unquoted)) return RejectReason::bad_local_part_character;
    content = unquoted.view();
  }
  if (ascii::is_ascii(content)) return write_untagged(content, profile, out);
  const Normalized composed(content, Normalized::Form::composed);
  if (composed.failed()) return RejectReason::out_of_memory;
  if (const RejectReason reason = identifier::check_local_part(composed.view()); reason != RejectReason::none) {
    return reason;
  }
  if (profile.keep_local_part_case) return write_untagged(composed.view(), profile, out);
  const Normalized folded(composed.view(), Normalized::Form::folded);
  if (folded.failed()) return RejectReason::out_of_memory;
  return write_untagged(folded.view(), profile, out);
}

}  // namespace bloomgate
