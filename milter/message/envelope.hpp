// Who sent a message to whom, through which client and mail server: what a checker gets besides the text. Plain values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/printable.hpp"

namespace bloomgate {

// The members may contain any bytes; the code that sends them makes them safe for its protocol. Empty means unknown.
struct Envelope {
  std::string queue_id = {};
  std::string sender = {};                   // without angle brackets; empty for the null sender
  std::vector<std::string> recipients = {};  // without angle brackets
  std::string client_address = {};           // a number, "192.0.2.1" or "2001:db8::1"
  std::string client_name = {};              // as the mail server found it; "unknown" and "[192.0.2.1]" are not names
  std::string helo = {};
  std::string login = {};     // from SASL
  std::string mta_name = {};  // of the mail server itself
};

// What the mail server reports at the end of a message; empty if it reports nothing.
struct EndOfMessage {
  std::string_view queue_id;
  std::string_view mta_name;  // its name for itself, the macro j
};

// The ID as a word of a log line; a dash if there is none. Throws std::bad_alloc.
inline std::string logged_queue_id(std::string_view queue_id) {
  constexpr std::size_t kMaxLoggedQueueIdBytes = 64;
  return queue_id.empty() ? "-" : printable_word(queue_id, kMaxLoggedQueueIdBytes);
}

}  // namespace bloomgate
