#include "milter/fields/content_type.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxBoundaryBytes = 70;
constexpr std::size_t kMaxParameters = 16;    // no honest field has so many, and each is compared with all others
constexpr std::size_t kMaxValueBytes = 4096;  // read once for each signature

struct Parameter {
  std::string name;  // in lower case
  std::string value;
};

struct Value {
  std::string type;  // in lower case, `text/plain`
  std::vector<Parameter> parameters;
};

// RFC 2045 section 5.1.
bool is_mime_token_character(char byte) noexcept {
  return byte > ' ' && byte < '\x7f' && std::string_view("()<>@,;:\\\"/[]?=").find(byte) == std::string_view::npos;
}

std::string token(StructuredReader& reader) {
  reader.skip_cfws();
  std::string text = ascii::lower_case(reader.take_while(is_mime_token_character));
  reader.skip_cfws();
  if (text.empty()) reader.fail();
  return text;
}

std::string token_or_quoted(StructuredReader& reader) {
  reader.skip_cfws();
  std::string text =
      reader.peek() == '"' ? unquoted(reader.quoted_string()) : std::string(reader.take_while(is_mime_token_character));
  reader.skip_cfws();
  return text;
}

// `word/word; name=value; …`, or `word; name=value` if there is no slash. Nothing unless all readers read the same
// value: a name that occurs twice, or a value in pieces (RFC 2231), is read in several ways.
std::optional<Value> read_value(std::string_view text, bool has_subtype) {
  if (text.size() > kMaxValueBytes) return std::nullopt;
  const std::optional<std::string> line = unfold(text);
  if (!line) return std::nullopt;
  StructuredReader reader(*line);
  Value value;
  value.type = token(reader);
  if (has_subtype) {
    if (!reader.take('/')) return std::nullopt;
    value.type += "/" + token(reader);
  }
  while (reader.take(';')) {
    reader.skip_cfws();
    if (reader.at_end()) break;
    Parameter parameter = {.name = token(reader), .value = {}};
    if (!reader.take('=')) return std::nullopt;
    parameter.value = token_or_quoted(reader);
    if (value.parameters.size() == kMaxParameters ||
        std::ranges::find(value.parameters, parameter.name, &Parameter::name) != value.parameters.end()) {
      return std::nullopt;
    }
    value.parameters.push_back(std::move(parameter));
  }
  if (reader.failed() || !reader.at_end()) return std::nullopt;
  return value;
}

template <std::size_t size>
bool is_one_of(std::string_view text, const std::string_view (&words)[size]) noexcept {
  return std::ranges::find(words, text) != std::end(words);
}

// UTF-7, UTF-16 and the ISO 2022 family give another meaning to ASCII's bytes.
bool has_ascii_in_it(std::string_view charset) {
  constexpr std::string_view kWhole[] = {"us-ascii", "ascii",   "utf-8",     "utf8",   "gb2312",
                                         "gbk",      "gb18030", "big5",      "euc-jp", "euc-kr",
                                         "koi8-r",   "koi8-u",  "shift_jis", "latin1", "ansi_x3.4-1968"};
  constexpr std::string_view kFamilies[] = {"iso-8859-", "windows-125", "cp125"};
  const std::string name = ascii::lower_case(charset);
  return is_one_of(name, kWhole) ||
         std::ranges::any_of(kFamilies, [&](std::string_view family) { return name.starts_with(family); });
}

bool is_harmless_in_text(const Parameter& parameter) {
  if (parameter.name == "charset") return has_ascii_in_it(parameter.value);
  return parameter.name == "format" || parameter.name == "delsp" || parameter.name == "reply-type";
}

bool is_harmless_in_multipart(const Parameter& parameter) {
  if (parameter.name == "charset") return has_ascii_in_it(parameter.value);
  constexpr std::string_view kNames[] = {"boundary", "type", "report-type", "protocol", "micalg", "differences"};
  return is_one_of(parameter.name, kNames);
}

// Lines of the body are compared with it, and white space at the end of a line may be lost on the way.
bool is_boundary(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kMaxBoundaryBytes && text.back() != ' ' &&
         std::ranges::all_of(text, [](char byte) { return byte >= ' ' && byte < '\x7f'; });
}

}  // namespace

std::optional<BodyStructure> harmless_content_type(std::string_view text) {
  const std::optional<Value> value = read_value(text, true);
  if (!value) return std::nullopt;
  if (value->type == "text/plain") {
    const bool is_harmless = std::ranges::all_of(value->parameters, is_harmless_in_text);
    return is_harmless ? std::optional(BodyStructure{}) : std::nullopt;
  }
  // In a digest each part is a message; of x-mixed-replace only the last part is shown.
  constexpr std::string_view kMultiparts[] = {"multipart/mixed", "multipart/alternative", "multipart/related",
                                              "multipart/report", "multipart/signed"};
  if (!is_one_of(value->type, kMultiparts) || !std::ranges::all_of(value->parameters, is_harmless_in_multipart)) {
    return std::nullopt;
  }
  const auto boundary = std::ranges::find(value->parameters, "boundary", &Parameter::name);
  if (boundary == value->parameters.end() || !is_boundary(boundary->value)) return std::nullopt;
  const bool is_alternative = value->type == "multipart/alternative";
  return BodyStructure{is_alternative ? BodyKind::alternative : BodyKind::multipart, boundary->value};
}

std::optional<BodyEncoding> known_encoding(std::string_view text) {
  const std::optional<Value> value = read_value(text, false);
  if (!value || !value->parameters.empty()) return std::nullopt;
  constexpr std::string_view kNone[] = {"7bit", "8bit", "binary"};
  if (is_one_of(value->type, kNone)) return BodyEncoding::none;
  if (value->type == "quoted-printable") return BodyEncoding::quoted_printable;
  if (value->type == "base64") return BodyEncoding::base64;
  return std::nullopt;
}

bool is_harmless_mime_version(std::string_view text) {
  const std::optional<Value> value = read_value(text, false);
  return value && value->type == "1.0" && value->parameters.empty();
}

bool is_harmless_disposition(std::string_view text) {
  const std::optional<Value> value = read_value(text, false);
  return value && value->type == "inline" && value->parameters.empty();
}

}  // namespace bloomgate
