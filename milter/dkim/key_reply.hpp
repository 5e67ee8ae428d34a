// A DNS message (RFC 1035 section 4) with the record of a key, in the form that libopendkim's resolver hooks expect. We
// build it from what libunbound has read, so the library never sees a message that came from the network.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace bloomgate {

// Writes the answer to a TXT query for `name`; an empty text gives the answer that the name does not exist. Returns the
// size; 0 if `name` is invalid or `out` is too small. Pure.
std::size_t write_key_reply(std::string_view name, std::string_view text, std::span<unsigned char> out) noexcept;

}  // namespace bloomgate
