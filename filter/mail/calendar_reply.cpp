#include "filter/mail/calendar_reply.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"
#include "filter/mail/calendar_text.hpp"
#include "filter/mail/mail_header.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxDepth = 16;
// The most pieces of a parameter; a boundary has at most 70 bytes.
constexpr unsigned kMaxPieces = 32;

// A parameter's value. If it does not fit, it is a value that is never looked for.
class Text {
 public:
  void append(char byte) noexcept {
    is_too_long_ = size_ == bytes_.size();
    if (!is_too_long_) bytes_[size_++] = byte;
  }
  bool is_empty() const noexcept { return size_ == 0 || is_too_long_; }
  std::string_view view() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<char, 200> bytes_;
  std::size_t size_ = 0;
  bool is_too_long_ = false;
};

struct Parameter {
  std::string_view name;   // without what follows a star
  std::string_view piece;  // `0` of `name*0`; empty: the value is whole
  bool is_encoded = false;
  bool is_quoted = false;
  std::string_view value = {};  // without the quotes around it
};

bool is_line_end(char byte) noexcept {
  return byte == '\r' || byte == '\n';
}

// Reads the value of a Content-Type from left to right.
class TypeReader {
 public:
  explicit TypeReader(std::string_view value) noexcept : rest_(value) {}

  // Whether the type is that one; an empty subtype stands for all. Call it before all parameters are read.
  bool take_type(std::string_view type, std::string_view subtype) noexcept {
    const std::string_view found = take_word();
    skip_comments();
    if (rest_.starts_with('/')) rest_.remove_prefix(1);
    const std::string_view found_subtype = take_word();
    return ascii::equal_ignoring_case(found, type) &&
           (subtype.empty() || ascii::equal_ignoring_case(found_subtype, subtype));
  }

  // The next parameter; nothing at the end.
  std::optional<Parameter> next() noexcept {
    for (;;) {
      const std::string_view name = take_word();
      if (rest_.empty()) return std::nullopt;
      skip_comments();
      const bool has_value = rest_.starts_with('=');
      // A semicolon, or a byte that belongs to nothing.
      if (has_value || name.empty()) rest_.remove_prefix(1);
      if (has_value && !name.empty()) return parameter(name);
    }
  }

 private:
  void skip_comments() noexcept { rest_ = behind_comments(rest_); }

  std::string_view take_word() noexcept {
    skip_comments();
    return take_until(" \t\r\n;=(/\"");
  }

  std::string_view take_until(std::string_view ends) noexcept {
    const std::string_view taken = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  Parameter parameter(std::string_view name) noexcept {
    Parameter found = {.name = name.substr(0, name.find('*')), .piece = {}};
    if (found.name.size() != name.size()) {
      found.piece = name.substr(found.name.size() + 1);
      found.is_encoded = found.piece.empty() || found.piece.ends_with('*');
      if (found.piece.ends_with('*')) found.piece.remove_suffix(1);
    }
    skip_comments();
    found.is_quoted = rest_.starts_with('"');
    found.value = found.is_quoted ? take_quoted() : take_until(" \t\r\n;(");
    return found;
  }

  std::string_view take_quoted() noexcept {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2U : 1U;
    const std::string_view taken = rest_.substr(1, end - 1);
    rest_.remove_prefix(end < rest_.size() ? end + 1 : rest_.size());
    return taken;
  }

  std::string_view rest_;
};

// RFC 2231 section 4: the first piece begins with a character set and a language.
void append_encoded(Text& text, std::string_view value, bool is_first) noexcept {
  if (is_first) {
    const std::size_t second = value.find('\'', value.find('\'') + 1);  // npos + 1 is the beginning
    if (second != std::string_view::npos) value.remove_prefix(second + 1);
  }
  for (std::size_t at = 0; at < value.size(); ++at) {
    const int escaped = value[at] == '%' ? ascii::hex_byte(value.substr(at + 1)) : -1;
    if (escaped >= 0) {
      text.append(static_cast<char>(escaped));
      at += 2;
    } else if (!is_line_end(value[at])) {
      text.append(value[at]);
    }
  }
}

void append(Text& text, const Parameter& parameter, bool is_first) noexcept {
  if (parameter.is_encoded) return append_encoded(text, parameter.value, is_first);
  bool is_escaped = false;
  for (const char byte : parameter.value) {
    if (is_line_end(byte)) continue;
    is_escaped = parameter.is_quoted && byte == '\\' && !is_escaped;
    if (!is_escaped) text.append(byte);
  }
}

bool is_piece(std::string_view text, unsigned number) noexcept {
  const std::array<char, 2> digits = {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
  return text == std::string_view(digits.data(), digits.size()).substr(number < 10 ? 1 : 0);
}

// Appends the piece with that name and number, and returns whether there is one. `number` counts from 0; nothing: the
// value is whole.
bool append_piece(Text& text, std::string_view content_type, std::string_view name,
                  std::optional<unsigned> number) noexcept {
  TypeReader reader(content_type);
  reader.take_type({}, {});
  while (const std::optional<Parameter> each = reader.next()) {
    if (!ascii::equal_ignoring_case(each->name, name)) continue;
    if (number ? !is_piece(each->piece, *number) : !each->piece.empty()) continue;
    append(text, *each, number.value_or(0) == 0);
    return true;
  }
  return false;
}

// Empty if there is none.
Text value_of(std::string_view content_type, std::string_view name) noexcept {
  Text text;
  if (append_piece(text, content_type, name, std::nullopt)) return text;
  for (unsigned number = 0; number < kMaxPieces; ++number) {
    if (!append_piece(text, content_type, name, number)) break;
  }
  return text;
}

bool is_type(std::string_view content_type, std::string_view type, std::string_view subtype) noexcept {
  return TypeReader(content_type).take_type(type, subtype);
}

bool is_calendar(std::string_view content_type) noexcept {
  return is_type(content_type, "text", "calendar");
}

bool is_multipart(std::string_view content_type) noexcept {
  return is_type(content_type, "multipart", {}) && !value_of(content_type, "boundary").is_empty();
}

// The parts of a body, and the multiparts that they are in.
class Parts {
 public:
  // Whether that Content-Type is one that is looked for. If it is a multipart, its parts are read from then on.
  bool take_type(std::string_view content_type) noexcept {
    if (is_calendar_reply(content_type)) return true;
    // For the type of the message, says_report() does this.
    if (depth_ != 0 && is_type(content_type, "multipart", "report")) return true;
    is_calendar_ = is_calendar_ || is_calendar(content_type);
    if (depth_ == kMaxDepth || !is_multipart(content_type)) return false;
    boundaries_[depth_++] = value_of(content_type, "boundary");
    return false;
  }

  // Whether the part that ends with that text answers an invitation.
  bool take_text(std::string_view text) noexcept {
    return std::exchange(is_calendar_, false) && answers_invitation(text);
  }

  // Reads the fields of a part.
  bool take_header(std::string_view header) noexcept {
    while (!header.empty()) {
      const auto [name, value] = split_field(take_field(header));
      if (ascii::equal_ignoring_case(name, "Content-Type") && take_type(value)) return true;
    }
    return false;
  }

  enum class Line : std::uint8_t { other, opens, closes };
  // Reads a line. If it opens or closes a part of one of the multiparts, that ends everything within it.
  Line take_line(std::string_view line) noexcept {
    if (!line.starts_with("--")) return Line::other;
    line = ascii::trimmed_back(line.substr(2), " \t\r");
    for (std::size_t depth = depth_; depth-- > 0;) {
      const std::string_view boundary = boundaries_[depth].view();
      if (!line.starts_with(boundary)) continue;
      const std::string_view behind = line.substr(boundary.size());
      if (!behind.empty() && behind != "--") continue;
      depth_ = behind.empty() ? depth + 1 : depth;
      return behind.empty() ? Line::opens : Line::closes;
    }
    return Line::other;
  }

 private:
  std::array<Text, kMaxDepth> boundaries_ = {};
  std::size_t depth_ = 0;
  bool is_calendar_ = false;  // the current part
};

}  // namespace

std::string_view behind_comments(std::string_view value) noexcept {
  std::size_t depth = 0;
  std::size_t at = 0;
  for (; at < value.size(); ++at) {
    const char byte = value[at];
    if (byte == '\\' && depth != 0) {
      ++at;
    } else if (byte == '(') {
      ++depth;
    } else if (byte == ')' && depth != 0) {
      --depth;
    } else if (depth == 0 && !is_folding_space(byte)) {
      break;
    }
  }
  return value.substr(std::min(at, value.size()));
}

bool is_calendar_reply(std::string_view content_type) noexcept {
  return is_calendar(content_type) && is_answering_method(value_of(content_type, "method").view());
}

bool needs_body(std::string_view content_type) noexcept {
  return is_multipart(content_type) || is_calendar(content_type);
}

bool has_automatic_part(std::string_view content_type, std::string_view body) noexcept {
  body = body.substr(0, kCalendarReplyBytes);
  Parts parts;
  if (parts.take_type(content_type)) return true;
  bool in_header = false;
  std::size_t part = 0;  // where the header or the text of the current part begins
  for (std::size_t begin = 0; begin < body.size();) {
    const std::size_t end = body.find('\n', begin);
    const std::string_view line = body.substr(begin, end - begin);
    const std::string_view before = body.substr(part, begin - part);
    const Parts::Line kind = parts.take_line(line);
    const bool is_boundary = kind != Parts::Line::other;
    const bool ends_header = in_header && (is_boundary || line.empty() || line == "\r");
    if (ends_header && parts.take_header(before)) return true;
    if (is_boundary && parts.take_text(in_header ? std::string_view() : before)) return true;
    begin = end == std::string_view::npos ? body.size() : end + 1;
    if (is_boundary || ends_header) part = begin;
    in_header = kind == Parts::Line::opens || (in_header && !ends_header);
  }
  const std::string_view rest = body.substr(part);
  return in_header ? parts.take_header(rest) : parts.take_text(rest);
}

}  // namespace bloomgate
