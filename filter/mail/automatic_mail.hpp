// Which messages no person has written to a correspondent: what a program answers, a mailing list sends on, or takes
// somebody off a list says nothing of whom a user knows. The one rule for what is learned and harvested. Pure; safe
// from any thread.
//
// An attacker can make a user's program send such mail: it answers by itself, confirms what was read, or opens the
// `mailto:` of a link.
#pragma once

#include <string_view>

namespace bloomgate {

// Whether a field says so, in any case and with white space before its colon:
// - Auto-Submitted with anything but `no` (RFC 3834); X-Autoreply and X-Autorespond likewise, and
//   X-Auto-Response-Suppress, as programs that answer write them.
// - List-Id (RFC 2919), List-Unsubscribe (RFC 2369): a newsletter goes to all who have subscribed.
// - Precedence with `bulk`, `list`, `junk` or `auto_reply` (RFC 2076).
// - a Content-Type of reports or of answers to invitations (RFC 6522; is_calendar_reply(), the message's own type).
// - a Subject by which one leaves a mailing list, also in encoded words (RFC 2047): `unsubscribe`, alone or with one
//   more word, such as the list's name. A longer Subject is a person's.
// A comment may stand before or behind a word. Linear in the length of the value.
bool says_automatic(std::string_view name, std::string_view value) noexcept;

// Whether a field says that the message is a report of a mail server or a program, such as a bounce: multipart/report
// (RFC 6522), in any case.
bool says_report(std::string_view name, std::string_view value) noexcept;

// Whether an address with that local part is, by its name, one that no person reads, so mail to it shows nobody whom a
// user knows. The usual names; the sender of a link or of an envelope may choose any other:
// - addresses by which one leaves a mailing list: `list-unsubscribe+joe`, `leave-123`, `signoff`, `remove`;
// - programs that keep lists: `dev-request` (RFC 2142), `listserv`, `majordomo`;
// - addresses that take no answer: `no-reply`, `donotreply`; and the places of bounces: `bounces+joe`, `mailer-daemon`.
// A word that persons have in their names counts alone or between `-`, `+` and `_`, as list software joins it, and not
// beside a dot: `john.leave`. A person reads `postmaster` and `abuse`. A person may read `quote-request` or
// `annual-leave`, too, but such a name cannot be told from that of a mailing list, so it counts as one.
bool is_of_program(std::string_view local_part) noexcept;

}  // namespace bloomgate
