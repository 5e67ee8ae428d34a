// Answers to invitations (iMIP, RFC 6047). A calendar program sends such an answer to the address that the invitation
// names, so it does not show whom a user knows. It has a part `text/calendar; method=REPLY`, usually in a multipart, so
// this rule reads some of the body. It needs no transfer encoding: the header of the part says what it is.
//
// Unlike the parsers of what has to be proven, this one forgives errors. Used for what is learned and harvested. Pure;
// nothing throws or allocates. Safe from any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace bloomgate {

// How much of a body is read. A part that begins later is not found.
inline constexpr std::size_t kCalendarReplyBytes = std::size_t{1} << 16;

// The value without the white space, line ends and comments in front. Empty if a comment does not end.
std::string_view behind_comments(std::string_view value) noexcept;

// Whether the value of a Content-Type says that its part is such an answer. Parameters may be quoted, folded, commented
// and encoded or split (RFC 2231). Linear.
bool is_calendar_reply(std::string_view content_type) noexcept;

// Whether it is that of a multipart, so that one of its parts may be such an answer.
bool has_parts(std::string_view content_type) noexcept;

// Whether a part of the message is such an answer, also in a multipart within the multipart. `content_type` is that of
// the message, `body` its first bytes, with lines that end with CR LF or LF. An answer within an attached message does
// not count, since a person has forwarded it. Linear.
bool has_calendar_reply(std::string_view content_type, std::string_view body) noexcept;

}  // namespace bloomgate
