// Which messages no person has written: what a program answers or a mailing list sends on says nothing of whom a user
// knows. Pure; safe from any thread.
#pragma once

#include <string_view>

namespace bloomgate {

// Whether a field says so: Auto-Submitted with anything but `no` (RFC 3834), List-Id (RFC 2919), Precedence with
// `bulk`, `list` or `junk` (RFC 2076). A comment may stand before or behind the word. Linear in the length of the
// value.
bool says_automatic(std::string_view name, std::string_view value) noexcept;

// Whether a field says that the message is a report of a mail server or a program, such as a bounce: multipart/report
// (RFC 6522), in any case.
bool says_report(std::string_view name, std::string_view value) noexcept;

}  // namespace bloomgate
