#include "milter/lookup/socketmap.hpp"

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxLengthDigits = 4;

}  // namespace

Netstring read_netstring(std::string_view bytes) noexcept {
  constexpr Netstring kMalformed = {.state = Netstring::State::malformed};
  std::size_t size = 0;
  std::size_t digits = 0;
  for (; digits < bytes.size() && ascii::is_digit(bytes[digits]); ++digits) {
    if (digits == kMaxLengthDigits || (digits == 1 && size == 0)) return kMalformed;
    size = 10 * size + static_cast<std::size_t>(bytes[digits] - '0');
  }
  if (size > kMaxSocketmapRequestBytes) return kMalformed;
  if (digits == bytes.size()) return {};
  if (digits == 0 || bytes[digits] != ':') return kMalformed;
  const std::string_view rest = bytes.substr(digits + 1);
  if (rest.size() <= size) return {};
  if (rest[size] != ',') return kMalformed;
  return {.state = Netstring::State::complete, .payload = rest.substr(0, size), .bytes = digits + 1 + size + 1};
}

std::string netstring_of(std::string_view payload) {
  return std::to_string(payload.size()).append(":").append(payload).append(",");
}

SocketmapRequest socketmap_request(std::string_view payload) noexcept {
  const std::size_t space = payload.find(' ');
  if (space == std::string_view::npos) return {.map = {}, .key = {}};
  return {.map = payload.substr(0, space), .key = payload.substr(space + 1)};
}

}  // namespace bloomgate
