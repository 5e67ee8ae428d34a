// What is found of an answer to an invitation does not depend on how lines end, nor on what is behind the bytes that
// are read, and the rule for what is automatic says the same of the message's own Content-Type. The input's first NUL
// ends that; the body follows.
#include <cstdint>
#include <string>
#include <string_view>

#include "filter/mail/automatic_mail.hpp"
#include "filter/mail/calendar_reply.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace bloomgate;

std::string with_crlf(std::string_view text) {
  std::string converted;
  for (const char byte : text) {
    if (byte == '\n') converted += '\r';
    converted += byte;
  }
  return converted;
}

void check(std::string_view content_type, std::string_view body) {
  const bool is_reply = is_calendar_reply(content_type);
  const bool is_found = has_automatic_part(content_type, body);
  test::require(is_found || !is_reply, "the message's own type counts");
  test::require(!is_found || is_reply || needs_body(content_type), "only a multipart and a calendar are looked into");
  test::require(!is_reply || says_automatic("Content-Type", content_type), "both rules are one");
  test::require(has_automatic_part(content_type, body.substr(0, kCalendarReplyBytes)) == is_found, "the bound holds");
  const std::string converted = with_crlf(body);
  if (body.find('\r') != std::string_view::npos || converted.size() > kCalendarReplyBytes) return;
  test::require(has_automatic_part(content_type, converted) == is_found, "lines may end in either way");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\0');
  check(input.substr(0, end), end == std::string_view::npos ? std::string_view() : input.substr(end + 1));
  return 0;
}
