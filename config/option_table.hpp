// The table of the daemon's options, which declares each option once. The command line, the reader of the configuration
// file and `--help` come from it; a test compares the manual pages and the shipped bloomgate-milter.conf with it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

struct OptionSpec {
  std::string_view name;           // without dashes: the same on the command line and in the file
  std::string_view argument;       // the value's name in help texts; empty: the option has no value
  std::string_view default_value;  // as an operator would write it; may be empty
  std::string_view summary;        // one line
  bool in_file;                    // false: on the command line only
  bool repeatable = false;         // may be given several times; each adds to it
  std::string_view commands = {};  // the only commands that have it, with spaces between them; empty: every call may
};

// In the order in which they are shown.
std::span<const OptionSpec> daemon_option_table() noexcept;

// The option of that name, which must be one of the table's.
const OptionSpec& option_spec(std::string_view name) noexcept;

// Whether only some commands have the option, and this is one of them.
bool belongs_to(const OptionSpec& option, std::string_view command) noexcept;
// For a message: "the commands doctor and why".
std::string commands_of(const OptionSpec& option);

// All words that may follow `bloomgate-milter`: the commands, help and version.
std::vector<std::string> daemon_command_names();

// What `bloomgate-milter --help` prints; and for one command, which is the whole where there is no such command.
std::string daemon_help_text();
std::string daemon_help_text(std::string_view command);

// What `bloomgate-milter --list-options` prints, for shell completions (scripts/make_completions.py). It has a line of
// five fields, separated by tabs, for each option: the word `option`, the option's name, an empty field (there are no
// one-letter options), the name of its value, and its summary. Then it has a line for each command: `word`, its name
// and its summary. The help does not mention `--list-options`.
inline constexpr std::string_view kListOptions = "--list-options";
std::string daemon_option_list();

}  // namespace bloomgate
