// The requests about senders over HTTP, for programs that do not speak socketmap (socketmap.hpp):
//
//   GET /sender?address=joe@example.org[&recipient=ann@ours.example]   -> `listed`, `revoked` or `neither`
//   POST /senders, one address or `SENDER > RECIPIENT` a line          -> one such word a line, in the same order
//   POST /message, a whole message                                     -> its decision (posted_message.hpp)
//
// In a query, `%` starts a byte in hexadecimal digits, and `+` is a plus, since addresses contain it. Pure except for
// the look-up itself; safe from any thread. The bytes may be hostile.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "milter/lookup/sender_question.hpp"
#include "milter/serving/http_messages.hpp"

namespace bloomgate {

// Limits of a POST. Its answer has at most 8 bytes a line.
inline constexpr std::size_t kMaxPostedBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxPostedLines = 10'000;

struct NamedSender {
  std::string address;
  std::string recipient = {};  // empty: none was named
};

// Reads a query, without its `?`. Returns nothing if `address` is missing, a name is unknown or occurs twice, or a
// value has an invalid escape or a control byte: an invalid recipient must not be ignored. Throws std::bad_alloc.
std::optional<NamedSender> named_sender(std::string_view query);

// Whether the request is one for /message.
bool asks_for_message(const HttpRequest& request) noexcept;

// Answers all other requests. Throws std::bad_alloc, and what `look_up` throws.
HttpAnswer answer_over_http(const HttpRequest& request,
                            const std::function<SenderStanding(const SenderQuestion&)>& look_up);

}  // namespace bloomgate
