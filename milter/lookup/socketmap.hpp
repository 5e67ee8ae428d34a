// Postfix's protocol for tables that another program looks up (socketmap_table(5); it comes from Sendmail). A request
// is `MAP KEY`; a reply is `OK VALUE`, `NOTFOUND ` or `PERM REASON`. Each of them is sent as a netstring, `16:senders
// a@b.test,`. A connection carries any number of them, and a client may send the next request before it has the reply
// to the last one.
//
// Pure; safe from any thread. The bytes may be hostile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bloomgate {

// The most bytes of a request, without the netstring's framing. A pair of the longest addresses fits.
inline constexpr std::size_t kMaxSocketmapRequestBytes = 1024;

// The first netstring in what a client has sent.
struct Netstring {
  enum class State : std::uint8_t { complete, incomplete, malformed };
  State state = State::incomplete;
  std::string_view payload = {};  // if complete: a part of the bytes
  std::size_t bytes = 0;          // if complete: its size with its length and its comma
};

// A payload of more than kMaxSocketmapRequestBytes is malformed, and so is a length with a leading zero. This is
// detected from the first bytes.
Netstring read_netstring(std::string_view bytes) noexcept;

// Throws std::bad_alloc.
std::string netstring_of(std::string_view payload);

struct SocketmapRequest {
  std::string_view map;  // empty: the request has no map and no key
  std::string_view key;
};

// Splits a payload at its first space.
SocketmapRequest socketmap_request(std::string_view payload) noexcept;

}  // namespace bloomgate
