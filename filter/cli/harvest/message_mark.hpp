// Which message shows a contact, for counting messages: the same one may be in a log, in a copy of it, and in folders
// of sent mail.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "filter/base/ascii.hpp"

namespace bloomgate::cli {

struct MessageMark {
  std::uint64_t hash = 0;
  bool is_named = false;   // the hash is of the Message-ID; else of something that other sources do not have
  bool is_logged = false;  // by a mail server; else it is a copy of the user's
  std::optional<std::chrono::sys_days> day = {};  // on which it was written, as its source says
};

// `message_id` has no brackets. A long one is cut in a log (Sendmail: 83 bytes), and bytes beyond ASCII are replaced:
// `instead`, which all copies of one kind have, then stands for the message, as it does for an empty one.
inline MessageMark mark_of(std::string_view message_id, std::string_view instead, bool is_logged) noexcept {
  constexpr std::size_t kMostBytes = 78;
  const bool is_named = !message_id.empty() && message_id.size() <= kMostBytes && ascii::is_ascii(message_id);
  return {.hash = std::hash<std::string_view>{}(is_named ? message_id : instead),
          .is_named = is_named,
          .is_logged = is_logged};
}

}  // namespace bloomgate::cli
