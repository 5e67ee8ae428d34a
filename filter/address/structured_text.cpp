#include "filter/address/structured_text.hpp"

#include <algorithm>

#include "filter/address/characters.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

bool is_white_space(char byte) noexcept {
  return byte == ' ' || byte == '\t';
}

bool is_no_plain_byte(char byte) noexcept {
  return byte == '\t' || byte == '\r' || byte == '\n';
}

// The length of the fold at the front of `text`, without the white space after it; 0 if there is none.
std::size_t fold_bytes(std::string_view text) noexcept {
  const std::size_t line_end = text.starts_with("\r\n") ? 2 : text.starts_with('\n') ? 1 : 0;
  return line_end < text.size() && is_white_space(text[line_end]) ? line_end : 0;
}

}  // namespace

std::optional<std::string> unfold(std::string_view value) {
  if (ascii::is_printable(value)) return std::string(value);
  std::string line;
  line.reserve(value.size());
  while (!value.empty()) {
    value.remove_prefix(fold_bytes(value));
    const auto* const plain_end = std::ranges::find_if(value, is_no_plain_byte);
    const auto plain_bytes = static_cast<std::size_t>(plain_end - value.begin());
    line.append(value.substr(0, plain_bytes));
    value.remove_prefix(plain_bytes);
    if (value.starts_with('\t')) {
      line.push_back(' ');
      value.remove_prefix(1);
    } else if (!value.empty() && fold_bytes(value) == 0) {
      return std::nullopt;
    }
  }
  if (characters::check(line) != RejectReason::none) return std::nullopt;
  return line;
}

void StructuredReader::skip_cfws() noexcept {
  for (;;) {
    if (peek() == '(') {
      skip_comment();
    } else if (!take(' ')) {
      return;
    }
  }
}

void StructuredReader::skip_comment() noexcept {
  bool in_quotes = false;
  for (std::size_t depth = 0; at_ < text_.size(); ++at_) {
    const char byte = text_[at_];
    if (byte == '"') {
      in_quotes = !in_quotes;
    } else if (byte == '\\') {
      if (++at_ == text_.size()) break;
    } else if (byte == '(' || byte == ')') {
      if (in_quotes) break;
      depth = byte == '(' ? depth + 1 : depth - 1;
      if (depth > 0) continue;
      ++at_;
      return;
    }
  }
  fail();
}

std::string_view StructuredReader::quoted_string() noexcept {
  const std::size_t from = at_++;
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"') {
      ++at_;
      return since(from);
    }
    if (text_[at_] == '\\' && ++at_ == text_.size()) break;
  }
  fail();
  return {};
}

std::string unquoted(std::string_view quoted_string) {
  std::string content;
  content.reserve(quoted_string.size());
  for (std::size_t at = 1; at + 1 < quoted_string.size(); ++at) {
    if (quoted_string[at] == '\\') ++at;
    content.push_back(quoted_string[at]);
  }
  return content;
}

}  // namespace bloomgate
