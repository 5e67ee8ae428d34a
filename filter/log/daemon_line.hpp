// One line of a log, as far as the daemon has written it: in syslog's files, as `journalctl -o short-iso` prints it, or
// as `log-target = stderr` has it. Pure; safe from any thread.
//
// Another program's line may hold any text that a stranger has chosen, so a line is read from its left: what the daemon
// says begins where the names of the host and the program end.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bloomgate {

enum class DaemonLevel : std::uint8_t { info, warning, error };

// The texts are parts of the line.
struct DaemonLine {
  std::string_view date = {};  // for LogTimes
  DaemonLevel level = DaemonLevel::info;
  std::string_view text = {};
};

// Nothing for lines of other programs. `line` has no line end.
std::optional<DaemonLine> read_daemon_line(std::string_view line) noexcept;

}  // namespace bloomgate
