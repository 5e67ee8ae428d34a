// The commands of bloomgate-milter, declared once. Most edit its exact lists, as the options are in option_table.hpp:
// `bloomgate-milter revoke joe@example.org`. The command line and `--help` come from the table; a test compares the
// manual page with it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/enum_words.hpp"

namespace bloomgate {

enum class ListName { extra, revoked, opt_out };
// By the names of their options.
template <>
inline constexpr auto kWordsOf<ListName> =
    enum_words<ListName>({{ListName::extra, "extra"}, {ListName::revoked, "revoked"}, {ListName::opt_out, "opt-out"}});

enum class ListChange { put_in, take_out };

struct ListCommandSpec {
  std::string_view name;  // the first word on the command line that is no option
  ListName list;
  ListChange change;
  std::string_view summary;
};

std::span<const ListCommandSpec> list_command_table() noexcept;

// The command that edits nothing: what the daemon's log says of a message.
inline constexpr std::string_view kWhyCommand = "why";
inline constexpr std::string_view kWhySummary = "say why a message was delivered or checked, from the daemon's log";

// What its command line asked for.
struct WhyCommand {
  std::string subject;            // a queue ID, an address or a domain
  std::vector<std::string> logs;  // files, `-` for standard input; empty: where the log usually is
  bool json = false;
  std::string config_fault = {};  // why the configuration could not be read
};

// The command for senders who are suspended.
inline constexpr std::string_view kSuspendedCommand = "suspended";
inline constexpr std::string_view kSuspendedSummary =
    "show the senders who are suspended, suspend one, or end that of some";

struct SuspendedCommand {
  enum class Action { list, add, clear };
  Action action = Action::list;
  std::vector<std::string> entries = {};  // as they were typed; of list none
  bool json = false;
};
template <>
inline constexpr auto kWordsOf<SuspendedCommand::Action> =
    enum_words<SuspendedCommand::Action>({{SuspendedCommand::Action::list, "list"},
                                          {SuspendedCommand::Action::add, "add"},
                                          {SuspendedCommand::Action::clear, "clear"}});

// The command for a mail store: what a user has moved.
inline constexpr std::string_view kMovedCommand = "moved";
inline constexpr std::string_view kMovedSummary =
    "a user has moved the message on standard input: suspend or list its sender for that user";

struct MovedCommand {
  enum class Where { junk, inbox };
  Where where = Where::junk;
  std::string user = {};  // as it was typed
  bool json = false;
};
template <>
inline constexpr auto kWordsOf<MovedCommand::Where> =
    enum_words<MovedCommand::Where>({{MovedCommand::Where::junk, "junk"}, {MovedCommand::Where::inbox, "inbox"}});

// The command of that name; null if there is none.
const ListCommandSpec* find_list_command(std::string_view name) noexcept;

// What the command line asked for.
struct ListCommand {
  const ListCommandSpec* spec = nullptr;  // in the table
  std::vector<std::string> entries;       // as they were typed; at least one
  bool json = false;
};

}  // namespace bloomgate
