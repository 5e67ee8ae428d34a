// Recognises messages that no person has written to a correspondent. An answer by a program, a message that a mailing
// list distributes, or a message that takes the writer off a list does not show whom a user knows. Learning and
// harvesting share this rule. Pure; safe from any thread.
//
// An attacker can make a user's program send such mail: a program answers by itself, confirms that a message was read,
// or opens the `mailto:` of a link.
#pragma once

#include <string_view>

namespace bloomgate {

// Whether a field marks a message as automatic, in any case and with white space before its colon:
// - Auto-Submitted with anything but `no` (RFC 3834); X-Autoreply and X-Autorespond likewise, and
//   X-Auto-Response-Suppress, as programs that answer write them.
// - List-Id (RFC 2919), List-Unsubscribe (RFC 2369): a newsletter goes to all who have subscribed.
// - Precedence with `bulk`, `list`, `junk` or `auto_reply` (RFC 2076).
// - a Content-Type of reports or of answers to invitations (RFC 6522; is_calendar_reply(), the message's own type).
// - a Subject for leaving a mailing list, also in encoded words (RFC 2047): `unsubscribe`, alone or with one
//   more word, such as the list's name. A longer Subject is a person's.
// A comment may be before or after a word. Linear in the length of the value.
bool says_automatic(std::string_view name, std::string_view value) noexcept;

// Whether a field marks the message as an answer that a program has written: it may repeat what it answers.
// Auto-Submitted with `auto-replied` (RFC 3834 section 5), X-Failed-Recipients, and what says_automatic() takes for the
// same.
bool says_answered(std::string_view name, std::string_view value) noexcept;

// Whether a field marks the message as a report of a mail server or a program, such as a bounce: multipart/report
// (RFC 6522), in any case.
bool says_report(std::string_view name, std::string_view value) noexcept;

// Whether an address with that local part has the name of an address that no person reads, so that mail to it does not
// show whom a user knows. Only the usual names; the sender of a link or of an envelope may choose any other:
// - addresses for leaving a mailing list: `list-unsubscribe+joe`, `leave-123`, `signoff`, `remove`;
// - programs that keep lists: `dev-request` (RFC 2142), `listserv`, `majordomo`;
// - addresses that accept no answer: `no-reply`, `donotreply`; and those for bounces: `bounces+joe`, `mailer-daemon`.
// A word that also occurs in people's names counts alone or between `-`, `+` and `_`, as list software joins it, and
// not beside a dot: `john.leave`. A person reads `postmaster` and `abuse`. A person may read `quote-request` or
// `annual-leave`, too, but such a name cannot be distinguished from that of a mailing list, so it counts as one.
bool is_of_program(std::string_view local_part) noexcept;

}  // namespace bloomgate
