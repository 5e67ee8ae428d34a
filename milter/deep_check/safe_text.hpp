// Makes text from a client or a checker safe for a header field, a protocol's header, or a reply. No result contains a
// line break. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate {

// Keeps printable ASCII; every other byte and every byte of `forbidden` becomes a question mark. Cut off at
// `max_bytes`.
std::string ascii_text(std::string_view text, std::size_t max_bytes, std::string_view forbidden = {});

// The same, but bytes beyond ASCII are kept, since addresses may be international (RFC 6532).
std::string utf8_text(std::string_view text, std::size_t max_bytes, std::string_view forbidden = {});

// The name of a checker's test; only letters, digits and "_.:-" are kept.
std::string symbol_name(std::string_view text);

// A client's name as the mail server reports it; empty if the mail server reports that there is none ("unknown",
// "[192.0.2.1]").
std::string_view known_host_name(std::string_view name) noexcept;

}  // namespace bloomgate
