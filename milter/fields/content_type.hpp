// Which values the fields about the body may have where no signature covers them: MIME-Version, Content-Type,
// Content-Transfer-Encoding and Content-Disposition. By default, Gmail signs only the first and OpenDKIM none of them.
// So an attacker can replace them above a signed body: another boundary that shows only an attached part, another type
// that turns quoted text into a page, an encoding that turns the text into other text. Only a few values leave the body
// as its writer meant it; this file accepts those.
//
// Pure; safe from any thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bloomgate {

enum class BodyKind : std::uint8_t { text, multipart, alternative };

struct BodyStructure {
  BodyKind kind = BodyKind::text;
  std::string boundary = {};  // of a multipart: 1 to 70 bytes (RFC 2046 section 5.1.1)
};

// Accepts text/plain in a character set that contains ASCII, and the usual multiparts with their boundary. Returns
// nothing for any other value, and for parameters that change what is shown: the name of a file, the first part of a
// multipart/related.
std::optional<BodyStructure> harmless_content_type(std::string_view value);

// How a body is encoded. `none`: not encoded.
enum class BodyEncoding : std::uint8_t { none, quoted_printable, base64 };

// Nothing for an encoding that MIME does not define: uuencode skips everything before its first line.
std::optional<BodyEncoding> known_encoding(std::string_view value);

// Whether the value is version 1.0, the only one.
bool is_harmless_mime_version(std::string_view value);

// Whether the value is `inline` without a name, which changes nothing.
bool is_harmless_disposition(std::string_view value);

}  // namespace bloomgate
