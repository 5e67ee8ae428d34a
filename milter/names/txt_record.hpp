// The result of a look-up of a TXT record. Plain values; pure; safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bloomgate {

enum class TxtStatus : std::uint8_t {
  found,
  not_found,      // the name does not exist, or has no TXT record
  several,        // more than one TXT record
  too_long,       // longer than kMaxTxtBytes
  malformed,      // not printable ASCII
  server_failed,  // SERVFAIL and the like; also a loop of CNAMEs
  bogus,          // DNSSEC validation found the answer forged
  timed_out,
  not_asked,  // the name servers have just failed for all names
};

inline constexpr std::size_t kTxtStatuses = static_cast<std::size_t>(TxtStatus::not_asked) + 1;

// "found", "not-found", "server-failed": the names above with hyphens. The names are stable: figures use them.
std::string_view txt_status_name(TxtStatus status) noexcept;

struct TxtRecord {
  TxtStatus status = TxtStatus::server_failed;
  std::string text = {};        // if found
  bool is_secure = false;       // DNSSEC has validated it
  std::chrono::seconds ttl{0};  // how long it may be cached, if found
};

// libopendkim accepts no longer key record. A key of 4,096 bits needs some 750 bytes, and DMARC fewer.
inline constexpr std::size_t kMaxTxtBytes = 1024;

}  // namespace bloomgate
