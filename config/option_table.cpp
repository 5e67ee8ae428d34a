#include "config/option_table.hpp"

#include <algorithm>
#include <array>

#include "config/list_commands.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kConfigOption = "config";

// As it is typed: `name argument`.
struct CommandSpec {
  std::string_view name;
  std::string_view argument;
  std::string_view summary;
};

constexpr std::array kOptions = {
    OptionSpec{"socket", "ADDRESS", "unix:/run/bloomgate/milter.sock", "where the mail server connects", true},
    OptionSpec{"socket-mode", "MODE", "0660", "permissions of a unix socket, in octal", true},
    OptionSpec{"socket-group", "GROUP", "", "group of a unix socket", true},
    OptionSpec{"max-connections", "NUMBER", "2000", "how many connections of mail servers may be open at once", true},
    OptionSpec{"connection-timeout", "SECONDS", "7200",
               "how long a connection may go without completing a step of the protocol", true},
    OptionSpec{"whitelist", "[NAME=]FILE", "/var/lib/bloomgate/whitelist.bloom",
               "a filter file made by 'bloomgate build'", true, true},
    OptionSpec{"trusted-key", "KEY...", "", "public keys, one of which must have signed each whitelist", true, true},
    OptionSpec{"taken-manifests", "FILE", "/var/lib/bloomgate/learned/manifests",
               "where the last used manifest of each signed whitelist is stored", true},
    OptionSpec{"use-overdue-for", "DAYS", "60d", "how long a signed whitelist is used after its manifest has expired",
               true},
    OptionSpec{"confirm", "[NAME=]FILE", "", "the store that confirms the hits of a whitelist", true, true},
    OptionSpec{"confirm-timeout", "SECONDS", "2", "how long a message waits for its stores", true},
    OptionSpec{"allow-missing-whitelist", "yes|no", "no", "start even if the whitelist cannot be used", true},
    OptionSpec{"allow-shrunken-whitelist", "yes|no", "no",
               "accept a new whitelist with less than a tenth of the entries of the one in use", true},
    OptionSpec{"revoked", "FILE", "", "senders whose mail is always checked, whatever the whitelists say", true},
    OptionSpec{"extra", "FILE", "", "senders who count as listed, beside the whitelists", true},
    OptionSpec{"opt-out", "FILE", "", "recipients whose mail is always checked", true},
    OptionSpec{"recipient-delimiter", "CHARACTERS", "", "what starts a tag in a recipient's address", true},
    OptionSpec{"identity", "envelope|header-from|either|both", "either", "which sender has to be on the whitelist",
               true},
    OptionSpec{"authentication", "required|preferred|off", "required", "whether a sender has to be authenticated",
               true},
    OptionSpec{"alignment", "parent|strict|relaxed", "parent", "which domain may sign for the sender's domain", true},
    OptionSpec{"spf-proves", "domain|address|no", "domain", "what a pass of SPF for the envelope sender proves", true},
    OptionSpec{"trusted-authserv-id", "NAME...", "", "names whose Authentication-Results fields are trusted", true,
               true},
    OptionSpec{"trusted-fields", "NUMBER", "0", "how many Authentication-Results fields are read, from the top", true},
    OptionSpec{"verify-dkim", "auto|yes|no", "auto",
               "whether the daemon itself verifies the DKIM signatures of listed senders", true},
    OptionSpec{"require-oversigned", "yes|no", "no",
               "count a signature only if it signs the From field once more than it occurs", true},
    OptionSpec{"require-signed", "FIELD...", "",
               "more header fields that a signature must cover if the message has them", true, true},
    OptionSpec{"max-signature-age", "DAYS", "10d", "signatures older than this do not count", true},
    OptionSpec{"dns-servers", "ADDRESS[@PORT]...", "", "name servers that are asked for the keys of signatures", true,
               true},
    OptionSpec{"dns-timeout", "SECONDS", "5", "how long a message waits for the keys of its signatures", true},
    OptionSpec{"dns-trust-anchor", "FILE", "", "keys by which DNSSEC validates the answers of name servers", true},
    OptionSpec{"dmarc-fail-veto", "yes|no", "yes",
               "check messages that failed DMARC, unless an entry names their mailing list or signer", true},
    OptionSpec{"trust-arc", "yes|no", "no", "accept arc=pass as authentication for the From field's domain", true},
    OptionSpec{"own-domains", "DOMAIN...", "", "your own domains; mail that claims one of them must be authenticated",
               true, true},
    OptionSpec{"trusted-forwarders", "DOMAIN...", "", "forwarders whose rewritten senders (SRS) are undone", true,
               true},
    OptionSpec{"undo-batv", "yes|no", "yes", "look up the sender behind a BATV tag (prvs=, btv1==)", true},
    OptionSpec{"exempt-networks", "NETWORK...", "", "your own networks, whose mail is not incoming", true, true},
    OptionSpec{"exempt-authenticated", "yes|no", "yes", "mail of users who logged in (SASL) is not incoming", true},
    OptionSpec{"exempt-daemons", "NAME...", "", "names of the mail server's listeners whose mail is not incoming", true,
               true},
    OptionSpec{"exempt-action", "none|deliver", "none", "what happens to mail that is not incoming", true},
    OptionSpec{"learn", "none|outbound", "none", "list, for each user alone, those to whom the user writes", true},
    OptionSpec{"learn-file", "FILE", "/var/lib/bloomgate/learned/learned.db", "the database of what is learned", true},
    OptionSpec{"learn-keep", "DAYS", "180d", "how long a learned pair is kept after the last message between the two",
               true},
    OptionSpec{"learn-max-recipients", "NUMBER", "20", "a message to more recipients teaches nothing", true},
    OptionSpec{"learn-rate", "NUMBER", "100", "how many new pairs one login may teach in an hour", true},
    OptionSpec{"learn-from-exempt", "yes|no", "no",
               "learn also from clients of exempt-networks that have not logged in", true},
    OptionSpec{"learn-exempt-rate", "NUMBER", "100",
               "how many new pairs one client of exempt-networks may teach in an hour", true},
    OptionSpec{"learned-from", "FOLDER KEY...", "",
               "a folder that 'bloomgate pull' fills with what another host has learned, and that host's public key",
               true, true},
    OptionSpec{"learn-key", "FILE", "", "the secret with which hosts hash what they share", true},
    OptionSpec{"burst-limit", "NUMBER", "60",
               "messages an hour that a listed sender may send whatever its habit; 0: no limit", true},
    OptionSpec{"burst-recipients", "NUMBER", "30",
               "different recipients an hour that a listed sender may write to, whatever its habit", true},
    OptionSpec{"burst-observe", "DAYS", "28d",
               "how long the daemon only learns habits before it checks mail for bursts", true},
    OptionSpec{"burst-file", "FILE", "/var/lib/bloomgate/learned/habits", "where the habits of senders are kept", true},
    OptionSpec{"suspend", "yes|no", "yes",
               "check a listed sender's mail for a day after the checker has called some of it spam", true},
    OptionSpec{"suspend-file", "FILE", "/var/lib/bloomgate/learned/suspended", "where suspended senders are stored",
               true},
    OptionSpec{"deep-check", "none|rspamd:URL|rspamd:unix:PATH|spamd:ADDRESS", "none",
               "the spam checker that the daemon asks about mail whose decision is 'check'", true, true},
    OptionSpec{"deep-check-timeout", "SECONDS", "30", "how long the deeper check of a message may take", true},
    OptionSpec{"deep-check-connections", "NUMBER", "20", "how many messages are checked at once", true},
    OptionSpec{"deep-check-max-size", "SIZE", "10M", "how much of a message is checked, from its beginning", true},
    OptionSpec{"deep-check-memory", "SIZE", "256K", "how much of a message is kept in memory", true},
    OptionSpec{"deep-check-folder", "FOLDER", "/var/tmp", "where temporary files are put", true},
    OptionSpec{"deep-check-spam", "tag|quarantine|reject|tempfail", "tag", "what the daemon does with spam", true},
    OptionSpec{"deep-check-reject", "tag|quarantine|reject|tempfail", "reject",
               "what the daemon does when rspamd says 'reject'", true},
    OptionSpec{"deep-check-soft-reject", "tag|quarantine|reject|tempfail", "tempfail",
               "what the daemon does when rspamd says 'soft reject'", true},
    OptionSpec{"deep-check-failure", "tempfail|tag", "tag", "what the daemon does when no checker answers", true},
    OptionSpec{"deep-check-sample", "PERCENT", "0%",
               "share of the delivered messages that the daemon shows to the checker, too", true},
    OptionSpec{"mode", "enforce|observe", "enforce", "mark messages, or only log the decisions", true},
    OptionSpec{"mark-tells-why", "yes|no", "no", "tell in the X-Bloomgate field why a message is checked", true},
    OptionSpec{"host-name", "NAME", "", "this host's name in the X-Bloomgate field", true},
    OptionSpec{"lock-memory", "yes|no", "no", "keep the whitelist in memory, never paged out", true},
    OptionSpec{"recheck-rate", "SIZE", "1G", "how much of the whitelists is checked again in an hour", true},
    OptionSpec{"log-target", "stderr|syslog|journal", "syslog", "where the log goes", true},
    OptionSpec{"log-level", "error|warning|info|debug", "info", "how much is logged", true},
    OptionSpec{"metrics", "HOST:PORT|PATH", "", "where the daemon shows its figures and its status page, by HTTP",
               true},
    OptionSpec{"history-file", "FILE", "/var/lib/bloomgate/learned/history",
               "where the figures of the status page's charts are kept", true},
    OptionSpec{"lookup-socket", "HOST:PORT|PATH", "", "where other programs ask whether a sender is listed", true},
    OptionSpec{"lookup-learned-over-tcp", "yes|no", "no",
               "also tell what was learned, if lookup-socket is a TCP address", true},
    OptionSpec{"lookup-messages", "NUMBER", "0", "how many whole messages the daemon decides at lookup-socket at once",
               true},
    OptionSpec{"lookup-token", "FILE", "", "file of the token that a program must send with a message to lookup-socket",
               true},
    OptionSpec{kConfigOption, "FILE", BLOOMGATE_CONFIG_FOLDER "/bloomgate-milter.conf", "the configuration file",
               false},
    OptionSpec{"check-config", "", "", "check the configuration, the lists and the sockets' folders, then exit", false},
    OptionSpec{"explain", "", "", "explain the decision on one message, step by step, then exit", false},
    OptionSpec{"from", "ADDRESS", "", "the envelope sender", false, false, "explain"},
    OptionSpec{"to", "ADDRESS", "", "a recipient", false, true, "explain"},
    OptionSpec{"header-from", "VALUE", "", "a From field", false, true, "explain"},
    OptionSpec{"authentication-results", "VALUE", "", "an Authentication-Results field", false, true, "explain"},
    OptionSpec{"client", "ADDRESS", "", "the client's IP address", false, false, "explain"},
    OptionSpec{"auth-login", "NAME", "", "the client's login", false, false, "explain"},
    OptionSpec{"daemon-name", "NAME", "", "the mail server's macro {daemon_name}", false, false, "explain"},
    OptionSpec{"mta-name", "NAME", "", "the mail server's name, its macro j", false, false, "explain"},
    OptionSpec{"reload", "PID|unit", "",
               "make the daemon (process PID, or the systemd unit's) load its lists again, and show the result", false},
    OptionSpec{"doctor", "", "", "look at the running system and the mail server, say what is wrong, then exit", false},
    OptionSpec{"postfix-config", "FOLDER", "/etc/postfix", "Postfix's configuration", false, false, "doctor"},
    OptionSpec{"sendmail-config", "FOLDER", "/etc/mail", "Sendmail's configuration", false, false, "doctor"},
    OptionSpec{"clamd", "ADDRESS", "", "where clamd listens, unix:PATH or inet:HOST:PORT", false, false, "doctor"},
    OptionSpec{"fingerprint", "HEX", "", "the fingerprint of the whitelist on other servers", false, true, "doctor"},
    OptionSpec{"send", "RECIPIENT", "",
               "send messages to RECIPIENT (postmaster, if none is named), and say what became of each", false, false,
               "doctor"},
    OptionSpec{"signed-message", "FILE", "", "with --send: a saved message from a listed sender", false, false,
               "doctor"},
    OptionSpec{"smtp", "HOST:PORT", "127.0.0.1:25", "with --send: the mail server", false, false, "doctor"},
    OptionSpec{"log", "FILE", "", "a log of the mail server or the daemon", false, true, "doctor why"},
    OptionSpec{"json", "", "", "print JSON", false, false,
               "explain doctor why add remove revoke unrevoke opt-out opt-in suspended moved"},
    OptionSpec{"help", "", "", "show this help, then exit", false},
    OptionSpec{"version", "", "", "show the version, then exit", false},
};

std::string usage_form(const OptionSpec& option) {
  std::string text = "--" + std::string(option.name);
  if (!option.argument.empty()) text += "=" + std::string(option.argument);
  return text;
}

std::vector<CommandSpec> daemon_commands() {
  std::vector<CommandSpec> commands = {
      {"explain", "< MESSAGE", "say how one message is decided, step by step"},
      {kWhyCommand, "QUEUE-ID|ADDRESS", kWhySummary},
      {"doctor", "", option_spec("doctor").summary},
      {"check-config", "", option_spec("check-config").summary},
      {kReloadWord, "[PID]", "make the running daemon load its lists again, and show the result"},
  };
  for (const ListCommandSpec& command : list_command_table()) {
    commands.push_back({command.name, "ENTRY...", command.summary});
  }
  commands.push_back({kSuspendedCommand, "list|add|clear [ENTRY...]", kSuspendedSummary});
  commands.push_back({kMovedCommand, "junk|inbox USER", kMovedSummary});
  return commands;
}

// The commands, and the options that may be written as words beside them.
std::vector<CommandSpec> all_words() {
  std::vector<CommandSpec> words = daemon_commands();
  for (const std::string_view name : {"help", "version"}) words.push_back({name, {}, option_spec(name).summary});
  return words;
}

// Before the summary of an option, where options of all commands are shown.
std::string prefix_of(const OptionSpec& option) {
  constexpr std::ptrdiff_t kMostNamed = 2;
  if (option.commands.empty()) return "";
  if (std::ranges::count(option.commands, ' ') >= kMostNamed) return "with most commands: ";
  std::string text(option.commands);
  if (const std::size_t space = text.find(' '); space != std::string::npos) text.replace(space, 1, " or ");
  return "with " + text + ": ";
}

void append_option(std::string& out, const OptionSpec& option, std::string_view before = {}) {
  out.append("  ").append(usage_form(option)).append("\n      ").append(before).append(option.summary);
  if (!option.default_value.empty()) out.append(" (default: ").append(option.default_value).append(")");
  out += "\n";
}

}  // namespace

std::span<const OptionSpec> daemon_option_table() noexcept {
  return kOptions;
}

const OptionSpec& option_spec(std::string_view name) noexcept {
  return *std::ranges::find(kOptions, name, &OptionSpec::name);
}

bool belongs_to(const OptionSpec& option, std::string_view command) noexcept {
  std::string_view rest = option.commands;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == command) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::string commands_of(const OptionSpec& option) {
  std::string text(option.commands);
  const std::size_t last = text.rfind(' ');
  if (last == std::string::npos) return "the command " + text;
  text.replace(last, 1, " and ");
  for (std::size_t at = text.find(' '); at < last; at = text.find(' ', at + 2)) text.replace(at, 1, ", ");
  return "the commands " + text;
}

std::vector<std::string> daemon_command_names() {
  std::vector<std::string> names;
  for (const CommandSpec& command : all_words()) names.emplace_back(command.name);
  return names;
}

std::string daemon_help_text() {
  std::string out =
      "usage: bloomgate-milter [OPTION...]\n"
      "       bloomgate-milter COMMAND [OPTION...]\n\n"
      "Tells a mail server, for each message, whether its sender is on the whitelist (X-Bloomgate: deliver)\n"
      "or the message needs the deeper checks (X-Bloomgate: check). Without a command, it is the daemon.\n\n"
      "Commands ('bloomgate-milter COMMAND --help' shows one with its options; a running daemon uses\n"
      "an edited list within a second):\n";
  for (const CommandSpec& command : daemon_commands()) {
    out.append("  ").append(command.name).append(command.argument.empty() ? "" : " ").append(command.argument);
    out.append("\n      ").append(command.summary).append("\n");
  }
  out += "\nOptions (the command line overrides the configuration file):\n";
  for (const OptionSpec& option : kOptions) {
    if (option.commands.empty()) append_option(out, option);
  }
  out += "\nOptions of commands:\n";
  for (const OptionSpec& option : kOptions) {
    if (!option.commands.empty()) append_option(out, option, prefix_of(option));
  }
  out +=
      "\nSIGUSR1 loads the whitelist again; SIGTERM stops the daemon.\n"
      "The manuals are bloomgate-milter(8) and bloomgate-milter.conf(5).\n";
  return out;
}

std::string daemon_help_text(std::string_view command) {
  const std::vector<CommandSpec> commands = daemon_commands();
  const auto found = std::ranges::find(commands, command, &CommandSpec::name);
  if (found == commands.end()) return daemon_help_text();
  std::string out = "usage: bloomgate-milter ";
  out.append(command).append(" [OPTION...]").append(found->argument.empty() ? "" : " ").append(found->argument);
  out.append("\n\n").append(found->summary).append("\n\nOptions:\n");
  for (const OptionSpec& option : kOptions) {
    if (belongs_to(option, command) || option.name == kConfigOption) append_option(out, option);
  }
  out +=
      "\nThe options of the configuration file may be given, too, and override it: 'bloomgate-milter --help'.\n"
      "The manual is bloomgate-milter(8).\n";
  return out;
}

std::string daemon_option_list() {
  std::string out;
  for (const OptionSpec& option : kOptions) {
    out.append("option\t").append(option.name).append("\t\t").append(option.argument).append("\t");
    out.append(prefix_of(option)).append(option.summary).append("\n");
  }
  for (const CommandSpec& command : all_words()) {
    out.append("word\t").append(command.name).append("\t").append(command.summary).append("\n");
  }
  out.append("after\t").append(kMovedCommand).append("\tjunk inbox\n");
  out.append("after\t").append(kSuspendedCommand).append("\tlist add clear\n");
  return out;
}

}  // namespace bloomgate
