// The lexical parts that all structured header fields share (RFC 5322 section 3.2, RFC 6532): folding, white space,
// comments and quoted strings. Used by the parsers of such fields, and of their parts.
//
// The reader is strict: if one program sees a comment in a field and another program does not, one of them is deceived.
// Safe from any thread; one thread at a time uses a reader.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "filter/base/ascii.hpp"

namespace bloomgate {

// A field's value in one line: line ends (CRLF, or LF as libmilter hands them over) that are followed by white space
// are removed, and tabs become spaces. Nothing if it holds another line end, a control character or invalid UTF-8.
// Linear. Throws std::bad_alloc.
std::optional<std::string> unfold(std::string_view value);

// White space, or a byte of a line end.
constexpr bool is_folding_space(char byte) noexcept {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

// A letter of base64 (RFC 4648 section 4); the padding is not one.
constexpr bool is_base64_letter(char byte) noexcept {
  return ascii::is_letter_or_digit(byte) || byte == '+' || byte == '/';
}

// `text` without the white space and line ends at its start and end.
constexpr std::string_view without_folding_space(std::string_view text) noexcept {
  return ascii::trimmed_if(text, is_folding_space);
}

// Reads an unfolded value from left to right. If something is not well-formed, the reader fails: it is then at the end
// and finds nothing more.
class StructuredReader {
 public:
  explicit StructuredReader(std::string_view text) noexcept : text_(text) {}

  bool failed() const noexcept { return failed_; }
  bool at_end() const noexcept { return at_ == text_.size(); }
  std::size_t position() const noexcept { return at_; }
  // The text read since `position`.
  std::string_view since(std::size_t position) const noexcept { return text_.substr(position, at_ - position); }
  // The next byte, '\0' at the end; there is no such byte in an unfolded value.
  char peek() const noexcept { return at_end() ? '\0' : text_[at_]; }

  void fail() noexcept {
    failed_ = true;
    at_ = text_.size();
  }

  // If `byte` is next, consumes it and returns true. At the end no byte is next, not even '\0'.
  bool take(char byte) noexcept {
    if (at_end() || text_[at_] != byte) return false;
    ++at_;
    return true;
  }

  // The bytes at the front for which `belongs` holds.
  template <typename Predicate>
  std::string_view take_while(Predicate belongs) noexcept {
    const std::size_t from = at_;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    return since(from);
  }

  // Consumes all white space and comments, which may be nested. The reader fails if a comment is not closed, or has a
  // parenthesis between quotes. Quotes mean nothing in a comment, but a writer who copied a quoted address into one
  // believed that they do, and the comment ends earlier than that writer thought.
  void skip_cfws() noexcept;

  // Consumes a quoted string, whose first quote is next, and returns it with its quotes. The reader fails if the string
  // is not closed.
  std::string_view quoted_string() noexcept;

 private:
  void skip_comment() noexcept;

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

// The content of a quoted string: without its quotes and escapes. Throws std::bad_alloc.
std::string unquoted(std::string_view quoted_string);

}  // namespace bloomgate
