// What a message's parts show about its writer: answers to invitations (iMIP, RFC 6047) and reports (RFC 6522). A
// calendar program sends an answer to the address that the invitation names, so it does not show whom a user knows. The
// answer is a part `text/calendar`, usually in a multipart, so this rule reads some of the body.
//
// Unlike the parsers of text that proves something, this one tolerates errors. Used for learning and harvesting. Pure;
// nothing throws or allocates. Safe from any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace bloomgate {

// How much of a body is read. A part that begins later is not found.
inline constexpr std::size_t kCalendarReplyBytes = std::size_t{1} << 16;

// The value without the white space, line ends and comments at its front. Empty if a comment does not end.
std::string_view behind_comments(std::string_view value) noexcept;

// Whether the value of a Content-Type says that its part answers an invitation (is_answering_method()). Parameters may
// be quoted, folded, commented and encoded or split (RFC 2231). Linear.
bool is_calendar_reply(std::string_view content_type) noexcept;

// Whether the body has to be read, too: a multipart has further parts, and the text of a calendar shows its method.
bool needs_body(std::string_view content_type) noexcept;

// Whether the message, or a part of it, also in a multipart within the multipart, is an answer to an invitation by its
// Content-Type or by its text; or whether one of its parts is a report. `content_type` is that of the message; `body`
// has the first bytes of its body, with lines that end with CR LF or LF. The content of an attached message does not
// count, since a person has forwarded it. Linear.
bool has_automatic_part(std::string_view content_type, std::string_view body) noexcept;

}  // namespace bloomgate
