// What is asked about senders over HTTP, for programs that do not speak socketmap (socketmap.hpp):
//
//   GET /sender?address=joe@example.org[&recipient=ann@ours.example]   -> `listed`, `revoked` or `neither`
//   POST /senders, one address or `SENDER > RECIPIENT` a line          -> one such word a line, in the same order
//   POST /message, a whole message                                     -> its decision (posted_message.hpp)
//
// In a query, `%` begins a byte in hexadecimal digits, and `+` is a plus, since addresses have it. Pure but for the
// look-up itself; safe from any thread. The bytes may be hostile.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "milter/lookup/sender_question.hpp"
#include "milter/serving/http_messages.hpp"

namespace bloomgate {

// Of a POST. Its answer has at most 8 bytes a line.
inline constexpr std::size_t kMaxPostedBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxPostedLines = 10'000;

struct NamedSender {
  std::string address;
  std::string recipient = {};  // empty: none was named
};

// Of a query, without its `?`. Nothing where `address` is missing, a name is unknown or there twice, or a value has a
// broken escape or a control byte: a recipient that is not understood must not be left out. Throws std::bad_alloc.
std::optional<NamedSender> named_sender(std::string_view query);

// Whether it is one for /message.
bool asks_for_message(const HttpRequest& request) noexcept;

// Of all others. Throws std::bad_alloc, and what `look_up` does.
HttpAnswer answer_over_http(const HttpRequest& request,
                            const std::function<SenderStanding(const SenderQuestion&)>& look_up);

}  // namespace bloomgate
