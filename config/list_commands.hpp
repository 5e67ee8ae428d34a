// The commands of bloomgate-milter, declared once, as option_table.hpp declares the options. Most commands edit its
// exact lists: `bloomgate-milter revoke joe@example.org`. The command line and `--help` come from the table; a test
// compares the manual page with it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/enum_words.hpp"

namespace bloomgate {

enum class ListName { extra, revoked, opt_out };
// The words are the names of the options.
template <>
inline constexpr auto kWordsOf<ListName> =
    enum_words<ListName>({{ListName::extra, "extra"}, {ListName::revoked, "revoked"}, {ListName::opt_out, "opt-out"}});

enum class ListChange { put_in, take_out };

struct ListCommandSpec {
  std::string_view name;  // the first word on the command line that is not an option
  ListName list;
  ListChange change;
  std::string_view summary;
};

std::span<const ListCommandSpec> list_command_table() noexcept;

// The options that may be written as commands: `bloomgate-milter doctor`.
inline constexpr std::array<std::string_view, 6> kActionWords = {"check-config", "doctor", "explain",
                                                                 "reload",       "help",   "version"};
inline constexpr std::string_view kReloadWord = "reload";
// The value of `reload` for the process of the systemd unit.
inline constexpr std::string_view kUnitsProcess = "unit";

// The command that edits no list: it reports what the daemon's log says about a message.
inline constexpr std::string_view kWhyCommand = "why";
inline constexpr std::string_view kWhySummary = "say why a message was delivered or checked, from the daemon's log";

// What the command line of `why` requested.
struct WhyCommand {
  std::string subject;            // a queue ID, an address or a domain
  std::vector<std::string> logs;  // files, `-` for standard input; empty: where the log usually is
  bool json = false;
  std::string config_fault = {};  // why the configuration could not be read
};

// The command for suspended senders.
inline constexpr std::string_view kSuspendedCommand = "suspended";
inline constexpr std::string_view kSuspendedSummary = "show suspended senders, suspend senders, or end suspensions";

struct SuspendedCommand {
  enum class Action { list, add, clear };
  Action action = Action::list;
  std::vector<std::string> entries = {};  // as they were typed; empty for `list`
  bool json = false;
};
template <>
inline constexpr auto kWordsOf<SuspendedCommand::Action> =
    enum_words<SuspendedCommand::Action>({{SuspendedCommand::Action::list, "list"},
                                          {SuspendedCommand::Action::add, "add"},
                                          {SuspendedCommand::Action::clear, "clear"}});

// The command for a mail store, which reports that a user has moved a message.
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

// What the command line of a list command requested.
struct ListCommand {
  const ListCommandSpec* spec = nullptr;  // in the table
  std::vector<std::string> entries;       // as they were typed; at least one
  bool json = false;
};

}  // namespace bloomgate
