#include "filter/mail/calendar_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "filter/base/ascii.hpp"
#include "filter/mail/transfer_encoding.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kBlanks = " \t";

// Reads the text byte by byte.
class MethodFinder {
 public:
  void add(char byte) noexcept {
    // In UTF-16, a NUL is half of a letter.
    if (byte == '\r' || byte == '\0') return;
    if (std::exchange(line_is_over_, false)) {
      if (kBlanks.find(byte) != std::string_view::npos) return;  // RFC 5545 section 3.1: the line continues
      end_line();
    }
    line_is_over_ = byte == '\n';
    if (line_is_over_) return;
    if (size_ < line_.size()) line_[size_] = byte;
    ++size_;
  }

  bool finish() noexcept {
    end_line();
    return found_;
  }

 private:
  void end_line() noexcept {
    constexpr std::string_view kName = "METHOD";
    const std::string_view line(line_.data(), size_ <= line_.size() ? size_ : 0);
    size_ = 0;
    const std::string_view name = line.substr(0, line.find_first_of(":;"));
    if (!ascii::equal_ignoring_case(ascii::trimmed(name, kBlanks), kName)) return;
    const std::string_view value = line.substr(line.rfind(':') + 1);  // npos + 1 is the beginning
    found_ = found_ || is_answering_method(ascii::trimmed(value, kBlanks));
  }

  std::array<char, 200> line_ = {};  // a line of that kind is never longer
  std::size_t size_ = 0;
  bool line_is_over_ = false;
  bool found_ = false;
};

}  // namespace

bool is_answering_method(std::string_view method) noexcept {
  constexpr std::array<std::string_view, 4> kMethods = {"REPLY", "COUNTER", "REFRESH", "DECLINECOUNTER"};
  return std::ranges::any_of(kMethods,
                             [method](std::string_view each) { return ascii::equal_ignoring_case(method, each); });
}

bool answers_invitation(std::string_view body) noexcept {
  MethodFinder as_it_is;
  MethodFinder from_quoted_printable;
  MethodFinder from_base64;
  for (const char byte : body) as_it_is.add(byte);
  decode_quoted_printable(body, [&](char byte) { from_quoted_printable.add(byte); });
  decode_base64(body, [&](char byte) { from_base64.add(byte); });
  return as_it_is.finish() || from_quoted_printable.finish() || from_base64.finish();
}

}  // namespace bloomgate
