// How long an address and its parts may be.
#pragma once

#include <cstddef>

namespace bloomgate {

inline constexpr std::size_t kMaxDomainBytes = 255;   // RFC 5321 section 4.5.3.1.2
inline constexpr std::size_t kMaxAddressBytes = 254;  // RFC 5321 section 4.5.3.1.3: a path of 256 without its brackets
inline constexpr std::size_t kMaxLabelBytes = 63;     // RFC 1035 section 2.3.4
inline constexpr std::size_t kMaxInputBytes = 2048;   // longer paths and lines are rejected unread
// Quotes included. With the '@' and a domain of one octet, an address has no room for more. RFC 5321 section 4.5.3.1.1
// allows 64 octets, but mailing lists write readers' addresses into local parts (VERP), and mail servers accept them.
inline constexpr std::size_t kMaxLocalPartBytes = kMaxAddressBytes - 2;
inline constexpr std::size_t kMaxKeyBytes = 7 + kMaxDomainBytes;  // "list:*." and a host; an address is shorter

}  // namespace bloomgate
