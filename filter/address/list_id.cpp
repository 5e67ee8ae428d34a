#include "filter/address/list_id.hpp"

#include <algorithm>

#include "filter/address/domain.hpp"
#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

bool is_of_phrase(char byte) noexcept {
  return byte != '<' && byte != '>' && byte != '"' && byte != '(' && byte != ')' && byte != '\\';
}

// The text between the angle brackets; nothing if the value does not have the one form that counts.
std::optional<std::string_view> bracketed(std::string_view line) noexcept {
  if (std::ranges::count(line, '<') != 1 || std::ranges::count(line, '>') != 1) return std::nullopt;
  StructuredReader reader(line);
  while (!reader.at_end() && reader.peek() != '<') {
    reader.skip_cfws();
    if (reader.peek() == '"') {
      reader.quoted_string();
    } else if (reader.peek() != '<' && reader.take_while(is_of_phrase).empty()) {
      reader.fail();
    }
  }
  if (reader.failed() || !reader.take('<')) return std::nullopt;
  const std::string_view host = reader.take_while([](char byte) { return byte != '>'; });
  if (!reader.take('>')) return std::nullopt;
  return line.find_first_not_of(' ', reader.position()) == std::string_view::npos ? std::optional(host) : std::nullopt;
}

}  // namespace

std::optional<std::string> read_list_id(std::string_view value) {
  const std::optional<std::string> line = unfold(value);
  if (!line) return std::nullopt;
  const std::optional<std::string_view> host = bracketed(*line);
  Domain canonical;
  if (!host || !ascii::is_ascii(*host) || canonicalize_host_name(*host, canonical) != RejectReason::none) {
    return std::nullopt;
  }
  if (list_host(canonical.view()).empty()) return std::nullopt;
  return std::string(canonical.view());
}

std::string_view list_host(std::string_view list_id) noexcept {
  const std::size_t dot = list_id.find('.');
  return dot == std::string_view::npos ? std::string_view() : list_id.substr(dot + 1);
}

}  // namespace bloomgate
