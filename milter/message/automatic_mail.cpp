#include "milter/message/automatic_mail.hpp"

#include <algorithm>
#include <array>

#include "filter/base/ascii.hpp"
#include "milter/policy/header_field.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kSpaceAndLineEnds = " \t\r\n";

// The first word outside of comments.
std::string_view first_word(std::string_view value) noexcept {
  std::size_t depth = 0;
  std::size_t begin = 0;
  for (; begin < value.size(); ++begin) {
    const char c = value[begin];
    if (c == '\\' && depth != 0) {
      ++begin;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && depth != 0) {
      --depth;
    } else if (depth == 0 && kSpaceAndLineEnds.find(c) == std::string_view::npos) {
      break;
    }
  }
  if (begin >= value.size()) return {};
  value.remove_prefix(begin);
  return value.substr(0, value.find_first_of(" \t\r\n;("));
}

}  // namespace

bool says_automatic(std::string_view name, std::string_view value) noexcept {
  if (is_header(name, "List-Id")) return true;
  if (is_header(name, "Auto-Submitted")) return !ascii::equal_ignoring_case(first_word(value), "no");
  if (!is_header(name, "Precedence")) return false;
  constexpr std::array<std::string_view, 3> kWords = {"bulk", "list", "junk"};
  return std::ranges::any_of(
      kWords, [word = first_word(value)](std::string_view each) { return ascii::equal_ignoring_case(word, each); });
}

bool says_report(std::string_view name, std::string_view value) noexcept {
  constexpr std::string_view kReport = "multipart/report";
  if (!is_header(name, "Content-Type")) return false;
  return !std::ranges::search(value, kReport, {}, ascii::to_lower, ascii::to_lower).empty();
}

}  // namespace bloomgate
