// The table of the daemon's options: each is declared once, here. The command line, the reader of the configuration
// file and `--help` come from it; a test compares the manual pages and the shipped bloomgate-milter.conf with it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bloomgate {

struct OptionSpec {
  std::string_view name;           // without dashes: the same on the command line and in the file
  std::string_view argument;       // the value's name in help texts; empty: the option takes none
  std::string_view default_value;  // as an operator would write it; may be empty
  std::string_view summary;        // one line
  bool in_file;                    // false: on the command line only
  bool repeatable = false;         // may be given several times; each adds to it
};

// In the order in which they are shown.
std::span<const OptionSpec> daemon_option_table() noexcept;

// The option of that name, which must be one of the table's.
const OptionSpec& option_spec(std::string_view name) noexcept;

// What `bloomgate-milter --help` prints.
std::string daemon_help_text();

// What `bloomgate-milter --list-options` prints, for the completions of shells (scripts/make_completions.py): a line
// for each option, with the words `option`, its name, no letter, its value's name and its summary between tabs; then
// one for each command, with `word`, its name and its summary. No help shows it.
inline constexpr std::string_view kListOptions = "--list-options";
std::string daemon_option_list();

}  // namespace bloomgate
