#include "filter/address/identifier.hpp"

#include <unictype.h>
#include <unigbrk.h>
#include <uniname.h>
#include <uninorm.h>
#include <unistr.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "filter/base/ascii.hpp"

namespace bloomgate::identifier {
namespace {

// The exceptions of RFC 5892 section 2.6, for which the properties would give another result. Characters that are
// allowed in some contexts are not here, as their properties exclude them.
constexpr std::u32string_view kAllowed = U"\u06fd\u06fe\u0f0b\u3007";
constexpr std::u32string_view kNotAllowed = U"\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b";

constexpr std::uint32_t kMark = UC_CATEGORY_MASK_Mn | UC_CATEGORY_MASK_Mc;
constexpr std::uint32_t kLetterOrDigit =
    UC_CATEGORY_MASK_Ll | UC_CATEGORY_MASK_Lu | UC_CATEGORY_MASK_Lo | UC_CATEGORY_MASK_Lm | UC_CATEGORY_MASK_Nd;

constexpr char32_t kNonJoiner = U'\u200c';
constexpr char32_t kJoiner = U'\u200d';

constexpr bool is_joiner(char32_t character) noexcept {
  return character == kNonJoiner || character == kJoiner;
}

bool has_category(char32_t character, std::uint32_t mask) noexcept {
  return uc_is_general_category_withtable(character, mask);
}

const std::uint8_t* bytes_of(const char* at) noexcept {
  return reinterpret_cast<const std::uint8_t*>(at);
}

// The characters of a text that is valid UTF-8, from any position on, in both directions.
class Characters {
 public:
  explicit Characters(std::string_view text, std::size_t at = 0) noexcept : text_(text), at_(at) {}

  bool at_end() const noexcept { return at_ == text_.size(); }
  std::size_t position() const noexcept { return at_; }

  char32_t next() noexcept {
    if (ascii::is_ascii(text_[at_])) return static_cast<unsigned char>(text_[at_++]);
    ucs4_t character = 0;
    at_ += static_cast<std::size_t>(u8_mbtouc(&character, bytes_of(text_.data() + at_), text_.size() - at_));
    return character;
  }

  // Returns 0 at the start.
  char32_t before() noexcept {
    ucs4_t character = 0;
    const std::uint8_t* const start = bytes_of(text_.data());
    const std::uint8_t* const found = u8_prev(&character, start + at_, start);
    if (found == nullptr) return 0;
    at_ = static_cast<std::size_t>(found - start);
    return character;
  }

 private:
  std::string_view text_;
  std::size_t at_;
};

bool is_virama(char32_t character) noexcept {
  return character != 0 && uc_combining_class(character) == UC_CCC_VR;
}

// RFC 5892 appendix A.1 and A.2. The joiner is the `bytes` bytes from `at` on.
bool is_joiner_in_context(std::string_view text, std::size_t at, std::size_t bytes, char32_t joiner) noexcept {
  Characters before(text, at);
  char32_t character = before.before();
  if (is_virama(character)) return true;
  if (joiner == kJoiner) return false;
  while (character != 0 && uc_joining_type(character) == UC_JOINING_TYPE_T) character = before.before();
  const int left = character == 0 ? UC_JOINING_TYPE_U : uc_joining_type(character);
  if (left != UC_JOINING_TYPE_L && left != UC_JOINING_TYPE_D) return false;
  for (Characters after(text, at + bytes); !after.at_end();) {
    const int right = uc_joining_type(after.next());
    if (right != UC_JOINING_TYPE_T) return right == UC_JOINING_TYPE_R || right == UC_JOINING_TYPE_D;
  }
  return false;
}

bool has_script(char32_t character, std::string_view name) noexcept {
  const uc_script_t* const script = character == 0 ? nullptr : uc_script(character);
  return script != nullptr && name == script->name;
}

bool is_any(std::string_view text, bool (*is)(char32_t)) noexcept {
  for (Characters characters(text); !characters.at_end();) {
    if (is(characters.next())) return true;
  }
  return false;
}

bool is_arabic_digit(char32_t character) noexcept {
  return character >= U'\u0660' && character <= U'\u0669';
}

bool is_extended_arabic_digit(char32_t character) noexcept {
  return character >= U'\u06f0' && character <= U'\u06f9';
}

bool is_japanese(char32_t character) noexcept {
  return has_script(character, "Hiragana") || has_script(character, "Katakana") || has_script(character, "Han");
}

// RFC 5892 appendix A.3 to A.9: true for a character that its context allows, false for one that it does not allow;
// nothing for all others, which have no rule for a context. The character is the `bytes` bytes from `at` on.
std::optional<bool> is_in_context(std::string_view text, std::size_t at, std::size_t bytes,
                                  char32_t character) noexcept {
  const char32_t before = Characters(text, at).before();
  Characters rest(text, at + bytes);
  const char32_t after = rest.at_end() ? 0 : rest.next();
  const auto is_l = [](char32_t letter) { return letter == U'l' || letter == U'L'; };
  switch (character) {
    case U'\u00b7':  // Catalan's l·l
      return is_l(before) && is_l(after);
    case U'\u0375':
      return has_script(after, "Greek");
    case U'\u05f3':
    case U'\u05f4':
      return has_script(before, "Hebrew");
    case U'\u30fb':
      return is_any(text, &is_japanese);
    default:
      if (is_arabic_digit(character)) return !is_any(text, &is_extended_arabic_digit);
      if (is_extended_arabic_digit(character)) return !is_any(text, &is_arabic_digit);
      return std::nullopt;
  }
}

// A letter of Hangul that is a part of a syllable and is not composed with the other letters.
bool is_old_jamo(char32_t character) noexcept {
  const int kind = uc_graphemeclusterbreak_property(character);
  return kind == GBP_L || kind == GBP_V || kind == GBP_T;
}

// Whether NFKC changes it. No allocation: the buffer is large enough for any character.
bool is_compatibility_character(char32_t character) noexcept {
  std::array<ucs4_t, UC_DECOMPOSITION_MAX_LENGTH> room;
  int tag = 0;
  if (uc_decomposition(character, &tag, room.data()) < 0) return false;
  const ucs4_t alone = character;
  std::size_t size = room.size();
  const ucs4_t* const found = u32_normalize(UNINORM_NFKC, &alone, 1, room.data(), &size);
  return found != room.data() || size != 1 || room[0] != alone;
}

// `character` must be beyond ASCII and not a joiner.
RejectReason reason_of_unseen(char32_t character) noexcept {
  if (uc_is_property_default_ignorable_code_point(character)) return RejectReason::invisible_character;
  return has_category(character, UC_CATEGORY_MASK_Z) ? RejectReason::foreign_space : RejectReason::none;
}

// The same, by all properties of the character. The order is that of RFC 8264 section 8, with one difference: among the
// characters that are not allowed, invisible ones come first, so that the reason says the most.
RejectReason reason_of(char32_t character) noexcept {
  if (kAllowed.find(character) != std::u32string_view::npos) return RejectReason::none;
  if (kNotAllowed.find(character) != std::u32string_view::npos) return RejectReason::disallowed_character;
  if (const RejectReason reason = reason_of_unseen(character); reason != RejectReason::none) return reason;
  if (is_compatibility_character(character)) return RejectReason::compatibility_character;
  const bool is_allowed = has_category(character, kLetterOrDigit | kMark) && !is_old_jamo(character);
  return is_allowed ? RejectReason::none : RejectReason::disallowed_character;
}

RejectReason reason_at(std::string_view text, std::size_t at, std::size_t bytes, char32_t character) noexcept {
  const std::optional<bool> is_good = is_in_context(text, at, bytes, character);
  if (!is_good) return reason_of(character);
  return *is_good ? RejectReason::none : RejectReason::disallowed_character;
}

bool is_utf8(std::string_view text) noexcept {
  return u8_check(bytes_of(text.data()), text.size()) == nullptr;
}

}  // namespace

RejectReason check_local_part(std::string_view content) noexcept {
  bool may_bear_mark = false;
  for (Characters characters(content); !characters.at_end();) {
    const std::size_t at = characters.position();
    const char32_t character = characters.next();
    if (character < 0x80) {
      may_bear_mark = ascii::is_letter_or_digit(static_cast<char>(character));
      continue;
    }
    const std::size_t bytes = characters.position() - at;
    if (is_joiner(character)) {
      if (!is_joiner_in_context(content, at, bytes, character)) return RejectReason::invisible_character;
      continue;
    }
    if (const RejectReason reason = reason_at(content, at, bytes, character); reason != RejectReason::none) {
      return reason;
    }
    const bool is_mark = has_category(character, kMark);
    if (is_mark && !may_bear_mark) return RejectReason::disallowed_character;
    may_bear_mark = is_mark || has_category(character, kLetterOrDigit);
  }
  return RejectReason::none;
}

RejectReason check_host_name(std::string_view name) noexcept {
  return find_unseen(name, Joiners::pass).reason;
}

Unsuitable find_unseen(std::string_view text, Joiners joiners) noexcept {
  if (ascii::is_ascii(text) || !is_utf8(text)) return {};
  for (Characters characters(text); !characters.at_end();) {
    const char32_t character = characters.next();
    if (character < 0x80 || (joiners == Joiners::pass && is_joiner(character))) continue;
    if (const RejectReason reason = reason_of_unseen(character); reason != RejectReason::none) {
      return {reason, character};
    }
  }
  return {};
}

char32_t find_unsuitable(std::string_view text, RejectReason reason) noexcept {
  if (ascii::is_ascii(text) || !is_utf8(text)) return 0;
  for (Characters characters(text); !characters.at_end();) {
    const std::size_t at = characters.position();
    const char32_t character = characters.next();
    if (character < 0x80 || is_joiner(character)) continue;
    if (reason_at(text, at, characters.position() - at, character) == reason) return character;
  }
  return 0;
}

bool is_unseen(std::string_view text) noexcept {
  if (!is_utf8(text)) return false;
  for (Characters characters(text); !characters.at_end();) {
    const char32_t character = characters.next();
    const bool is_seen = character < 0x80 ? character != ' ' : reason_of_unseen(character) == RejectReason::none;
    if (is_seen) return false;
  }
  return true;
}

bool changes_direction(std::string_view text) noexcept {
  if (ascii::is_ascii(text) || !is_utf8(text)) return false;
  for (Characters characters(text); !characters.at_end();) {
    const char32_t character = characters.next();
    if (!uc_is_property_bidi_control(character)) continue;
    const int direction = uc_bidi_class(character);
    if (direction != UC_BIDI_L && direction != UC_BIDI_R && direction != UC_BIDI_AL) return true;
  }
  return false;
}

std::string character_text(char32_t character) {
  std::array<char, UNINAME_MAX> name;
  std::array<char, 12> code_point;
  std::snprintf(code_point.data(), code_point.size(), "U+%04X", static_cast<unsigned>(character));
  std::string text = code_point.data();
  if (unicode_character_name(character, name.data()) != nullptr) text.append(" (").append(name.data()).append(")");
  return text;
}

}  // namespace bloomgate::identifier
