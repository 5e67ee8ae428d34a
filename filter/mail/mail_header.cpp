#include "filter/mail/mail_header.hpp"

#include <algorithm>

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kHeaderBlanks = " \t";

}  // namespace

FieldParts split_field(std::string_view field) noexcept {
  const std::size_t colon = std::min(field.find(':'), field.size());
  return {.name = ascii::trimmed_back(field.substr(0, colon), kHeaderBlanks),
          .value = field.substr(std::min(colon + 1, field.size()))};
}

bool starts_field(std::string_view line) noexcept {
  const std::string_view name = split_field(line).name;
  const auto is_visible = [](char character) { return character > ' ' && character < '\x7f'; };
  return line.find(':') != std::string_view::npos && !name.empty() && std::ranges::all_of(name, is_visible);
}

std::string_view take_text_line(std::string_view& text) noexcept {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view take_field(std::string_view& header) noexcept {
  std::string_view rest = header;
  std::string_view last;
  do {
    last = take_text_line(rest);
  } while (is_folded_line(rest));
  const std::string_view field = header.substr(0, static_cast<std::size_t>(last.data() + last.size() - header.data()));
  header = rest;
  return field;
}

HeaderLine split_header_line(std::string_view line) noexcept {
  if (is_folded_line(line)) return {.name = {}, .value = ascii::trimmed(line, kHeaderBlanks), .goes_on = true};
  if (line.find(':') == std::string_view::npos) return {};
  const auto [name, value] = split_field(line);
  return {.name = name, .value = ascii::trimmed(value, kHeaderBlanks)};
}

std::vector<HeaderField> read_message_header(std::istream& stream, std::string* body) {
  std::string text(kMaxMessageHeaderBytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  std::string_view rest = std::string_view(text).substr(0, static_cast<std::size_t>(stream.gcount()));
  // `From : joe@example.org` is still a field.
  if (std::string_view after = rest; rest.starts_with("From ") && !starts_field(take_text_line(after))) rest = after;
  std::vector<HeaderField> fields;
  while (!rest.empty()) {
    const std::string_view line = take_text_line(rest);
    if (line.empty()) break;
    if (is_folded_line(line) && !fields.empty()) {
      std::string& value = fields.back().value;
      // A CR that did not end a line must not look as if it did.
      if (value.ends_with('\r')) value += '\r';
      value.append("\n").append(line);
      continue;
    }
    if (!starts_field(line)) break;
    fields.push_back({std::string(line.substr(0, line.find(':'))), std::string(split_field(line).value)});
  }
  if (body != nullptr) *body = rest;
  return fields;
}

}  // namespace bloomgate
