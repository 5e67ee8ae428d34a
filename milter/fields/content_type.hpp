// What the fields about the body may say where no signature covers them: MIME-Version, Content-Type,
// Content-Transfer-Encoding and Content-Disposition. Gmail signs only the first and OpenDKIM none of them, unless told
// to, so an attacker can write them anew over a body that is signed: another boundary that shows only what somebody has
// attached, another type that turns quoted text into a page, an encoding that turns it into other text. Few values
// leave the body as its writer meant it: these.
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

// text/plain in a character set of which ASCII is a part, or one of the usual multiparts with its boundary. Nothing for
// everything else, and for parameters that change what is shown: the name of a file, the first part of a
// multipart/related.
std::optional<BodyStructure> harmless_content_type(std::string_view value);

// How a body is encoded. `none`: as it is.
enum class BodyEncoding : std::uint8_t { none, quoted_printable, base64 };

// Nothing for an encoding that is not one of MIME's: uuencode skips everything before its first line.
std::optional<BodyEncoding> known_encoding(std::string_view value);

// Whether it is version 1.0, the only one.
bool is_harmless_mime_version(std::string_view value);

// Whether it is `inline` without a name: it changes nothing.
bool is_harmless_disposition(std::string_view value);

}  // namespace bloomgate
