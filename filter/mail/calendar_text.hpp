// The method of a calendar object (iTIP, RFC 5546), which says whether it answers an invitation. Pure; nothing throws
// or allocates. Safe from any thread.
#pragma once

#include <string_view>

namespace bloomgate {

// Whether a method is that of an answer, which goes to the address that the invitation names: REPLY, COUNTER, REFRESH
// and DECLINECOUNTER, in any case.
bool is_answering_method(std::string_view method) noexcept;

// Whether the body of a calendar part has a line `METHOD:` of an answer (RFC 5545 section 3.7.2), in any case, also
// folded and with parameters. It may be in base64 or quoted-printable, whatever the part's header says. Linear.
bool answers_invitation(std::string_view body) noexcept;

}  // namespace bloomgate
