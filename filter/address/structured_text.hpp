// The lexical parts that all structured header fields share (RFC 5322 section 3.2, RFC 6532): folding, white space,
// comments and quoted strings. Used by the parsers of such fields, and of their parts.
//
// Nothing is forgiven here: if one reader of a field sees a comment and another does not, one of them is fooled. Safe
// from any thread; one thread at a time uses a reader.
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

// Of base64 (RFC 4648 section 4); padding is not.
constexpr bool is_base64_letter(char byte) noexcept {
  return ascii::is_letter_or_digit(byte) || byte == '+' || byte == '/';
}

// `text` without the white space and line ends at its start and end.
constexpr std::string_view without_folding_space(std::string_view text) noexcept {
  return ascii::trimmed_if(text, is_folding_space);
}

// Goes through an unfolded value from left to right. The first thing that is not well-formed fails the reader: it is
// then at the end and finds nothing more.
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

  // Whether `byte` is next; if so, takes it. At the end nothing is, not even '\0'.
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

  // Takes all white space and comments, which may be nested. A comment that is not closed fails. So does one with a
  // parenthesis between quotes: quotes mean nothing in a comment, but a writer who copied a quoted address into one
  // believed that they do, and the comment ends earlier than that writer thought.
  void skip_cfws() noexcept;

  // Takes a quoted string, whose first quote is next, and returns it with its quotes. One that is not closed fails.
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
