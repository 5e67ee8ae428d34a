// What a file is that was given for a list and is none, by its first bytes. Its lines would be rejected one by one, and
// a filter of what is left would list nobody. Pure; safe from any thread. The bytes may be hostile.
#pragma once

#include <string>
#include <string_view>

namespace bloomgate {

// Throws BloomgateError{bad_input}, which names `list` and says what to do, if that text begins as a filter, a store,
// an archive, a document of another program, UTF-16 or a web page does. With `is_text` also if it begins as JSON, an
// address book or mail does, which may have addresses in it, but none alone on its line.
void require_list(std::string_view start, bool is_text, std::string_view list);

// What `--format` takes for a table that begins so, in quotes where a shell needs them: "csv:email", by the first
// column that has an address in one of the first rows. Empty: it is no table with such a column.
std::string format_of_table(std::string_view start);

}  // namespace bloomgate
