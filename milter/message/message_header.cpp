#include "milter/message/message_header.hpp"

#include <algorithm>
#include <string_view>

namespace bloomgate {
namespace {

constexpr std::string_view kSpace = " \t";

bool is_space(char character) noexcept {
  return kSpace.find(character) != std::string_view::npos;
}

// Takes the first line off `text`, without its end.
std::string_view take_line(std::string_view& text) noexcept {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The place of the colon after a field's name; npos if the line is not a field: a name is visible ASCII, at most
// followed by space (RFC 5322 section 4.5).
std::size_t colon_of(std::string_view line) noexcept {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return colon;
  const std::string_view name = line.substr(0, line.substr(0, colon).find_last_not_of(kSpace) + 1);
  const auto is_visible = [](char character) { return character > ' ' && character < '\x7f'; };
  return !name.empty() && std::ranges::all_of(name, is_visible) ? colon : std::string_view::npos;
}

}  // namespace

std::vector<HeaderField> read_message_header(std::istream& stream, std::string* body) {
  std::string text(kMaxMessageHeaderBytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  std::string_view rest = std::string_view(text).substr(0, static_cast<std::size_t>(stream.gcount()));
  // `From : joe@example.org` is still a field.
  if (std::string_view after = rest; rest.starts_with("From ") && colon_of(take_line(after)) == rest.npos) rest = after;
  std::vector<HeaderField> fields;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.empty()) break;
    if (is_space(line.front()) && !fields.empty()) {
      fields.back().value.append("\n").append(line);
      continue;
    }
    const std::size_t colon = colon_of(line);
    if (colon == std::string_view::npos) break;
    fields.push_back({std::string(line.substr(0, colon)), std::string(line.substr(colon + 1))});
  }
  if (body != nullptr) *body = rest;
  return fields;
}

}  // namespace bloomgate
