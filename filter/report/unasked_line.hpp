// The line that a mail server logs if it cannot ask a milter. Pure; safe from any thread.
#pragma once

#include <optional>
#include <string_view>

namespace bloomgate {

// One line of a mail server's log that says that it could not ask a milter: mail of that session continued without it.
// The texts are parts of the line.
struct UnaskedLine {
  std::string_view date = {};    // for LogTimes
  std::string_view milter = {};  // Postfix: its address; Sendmail: its name
  std::string_view why = {};     // as the mail server writes it
};

// Nothing for other lines. Postfix and Sendmail write one such line for each session. `line` has no line end.
std::optional<UnaskedLine> read_unasked_line(std::string_view line) noexcept;

}  // namespace bloomgate
