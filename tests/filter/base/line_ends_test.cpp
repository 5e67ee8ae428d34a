#include "filter/base/line_ends.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

std::string in_pieces(std::string_view text, std::size_t size) {
  std::string out;
  char last = '\0';
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) {
    append_with_crlf(out, text.substr(0, size), last);
  }
  return out;
}

TEST_CASE("each LF gets its CR, and one that has it gets no second, however the text is cut") {
  const std::string_view text = "\na\r\n\nb\rc\n\r\n";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    INFO(size);
    CHECK(in_pieces(text, size) == "\r\na\r\n\r\nb\rc\r\n\r\n");
  }
}

}  // namespace
}  // namespace bloomgate
