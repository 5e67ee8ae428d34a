// The List-Id field of a mailing list's message (RFC 2919): which host it names, and who may sign for that list. Pure;
// safe from any thread.
//
// Any sender can write the field, and programs read odd forms of it differently. So it counts only in one form: any
// words, quoted strings and comments, then the one `<host>` of the value, and nothing after it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bloomgate {

// The canonical host in the value; nothing if the value has another form, a host of one label, or one that is not
// ASCII. Throws std::bad_alloc.
std::optional<std::string> read_list_id(std::string_view value);

// The list's host: the part of a canonical list identifier after its first label; empty if there is none.
std::string_view list_host(std::string_view list_id) noexcept;

}  // namespace bloomgate
