// A DNS message (RFC 1035 section 4) with the record of a key, as libopendkim's resolver hooks want it. We make it from
// what libunbound has read, so the library never sees a message that somebody on the network wrote.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace bloomgate {

// Writes the answer to a question for the TXT record of `name`; without a text it says that there is no such name.
// Returns its size; 0 if the name is no name or there is no room. Pure.
std::size_t write_key_reply(std::string_view name, std::string_view text, std::span<unsigned char> out) noexcept;

}  // namespace bloomgate
