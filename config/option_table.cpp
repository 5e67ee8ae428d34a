#include "config/option_table.hpp"

#include <algorithm>
#include <array>

namespace bloomgate {
namespace {

constexpr std::array kTable = {
    OptionSpec{"socket", "ADDRESS", "unix:/run/bloomgate/milter.sock", "where the mail server connects",
               "unix:PATH (or local:PATH), inet:PORT@HOST or inet6:PORT@HOST, as in inet:8891@127.0.0.1.\n"
               "There is no password: whoever can connect can ask who is on the whitelist.",
               true},
    OptionSpec{"socket-mode", "MODE", "0660", "permissions of a unix socket, in octal",
               "Whoever may write to the socket may connect.", true},
    OptionSpec{"socket-group", "GROUP", "", "group of a unix socket",
               "Empty: the group that the daemon runs as. Put the mail server's user into that group:\n"
               "usermod -a -G bloomgate postfix",
               true},
    OptionSpec{
        "whitelist", "[NAME=]FILE", "/var/lib/bloomgate/whitelist.bloom", "a filter file made by 'bloomgate build'",
        "Several lines make several whitelists: who is on one of them is listed. The name is what logs and header\n"
        "fields call it, as in partners=/srv/lists/2026.bloom; without it, the file's name up to its last dot.\n"
        "All of it is checked when it is loaded: at the start, and again on SIGUSR1 (systemctl reload).\n"
        "Replace it by renaming a new file over it, as 'bloomgate build' does; never change it in place.",
        true, true},
    OptionSpec{"allow-missing-whitelist", "yes|no", "no", "start although the whitelist cannot be used",
               "With 'yes' the daemon runs without a whitelist, and all mail is sent to the deeper checks, until a\n"
               "good file is there and the daemon is told to reload.",
               true},
    OptionSpec{
        "revoked", "FILE", "", "entries that are never delivered, whatever the whitelists say",
        "A text file of exact entries, one a line: joe@example.org, @example.org or @.example.org. The way to take\n"
        "an entry, or a false positive, out at once. Read at the start and at a reload, and whenever it changes.",
        true},
    OptionSpec{"extra", "FILE", "", "entries that count as listed, beside the whitelists",
               "A text file like that of 'revoked', read as often. What is in both is revoked.", true},
    OptionSpec{
        "identity", "envelope|header-from|either|both", "either", "which sender has to be on the whitelist",
        "envelope: that of the MAIL command. header-from: that of the From field. either: one of them is enough.\n"
        "both: each of them has to be.",
        true},
    OptionSpec{"authentication", "required|preferred|off", "required", "whether a sender has to be authenticated",
               "required: a listed sender counts only where SPF, DKIM or DMARC passed for it. preferred: also where\n"
               "nothing is known of it. off: anyone can forge a listed sender and skip the deeper checks.",
               true},
    OptionSpec{"alignment", "relaxed|strict", "relaxed", "how alike the authenticated domain has to be to the sender's",
               "relaxed: of the same organisation (mail.example.org and example.org). strict: the same domain.", true},
    OptionSpec{"trusted-authserv-id", "NAME...", "", "whose Authentication-Results fields are believed",
               "The names that your own milters and mail servers put first into that field. Empty: the name that the\n"
               "mail server gives (its macro j). The mail server must remove such fields that come from outside.",
               true, true},
    OptionSpec{"trusted-fields", "NUMBER", "0", "how many Authentication-Results fields, from the top, are looked at",
               "0: all. The number of milters before this one that write one each into every message: what a sender\n"
               "has forged stands below theirs. Sendmail needs it, since it cannot remove such fields itself.",
               true},
    OptionSpec{"dmarc-fail-veto", "yes|no", "yes", "check what failed DMARC, whoever else is listed and authenticated",
               "", true},
    OptionSpec{"trust-arc", "yes|no", "no", "take arc=pass for an authentication of the From field's domain",
               "Anyone can seal a chain: only with a milter before us that passes chains of known sealers alone.",
               true},
    OptionSpec{
        "own-domains", "DOMAIN...", "", "your own domains, which nobody outside may use without authentication",
        "Mail that claims one of them is delivered only where it is authenticated, whatever 'authentication' says.\n"
        "A dot before the name means all domains below it too: .example.org",
        true, true},
    OptionSpec{"trusted-forwarders", "DOMAIN...", "", "whose rewritten senders (SRS) are undone",
               "Of mail from another forwarder the sender stays what it is, since anyone can write one.", true, true},
    OptionSpec{"undo-batv", "yes|no", "yes", "look up the sender behind a BATV tag (prvs=, btv1==)", "", true},
    OptionSpec{"exempt-networks", "NETWORK...", "", "clients whose mail is not incoming",
               "Addresses and networks such as 192.0.2.0/24 and 2001:db8::/32.", true, true},
    OptionSpec{"exempt-authenticated", "yes|no", "yes", "mail of users who logged in (SASL) is not incoming",
               "The name in a client's TLS certificate is not a login.", true},
    OptionSpec{"exempt-daemons", "NAME...", "", "names of the mail server's listeners whose mail is not incoming",
               "As its macro {daemon_name} gives them.", true, true},
    OptionSpec{"exempt-action", "none|deliver", "none", "what becomes of mail that is not incoming",
               "none: it is not marked. deliver: it is marked for delivery. Forged marks are removed in both cases.",
               true},
    OptionSpec{
        "deep-check", "none|rspamd:URL|rspamd:unix:PATH|spamd:ADDRESS", "none",
        "the spam checker that is asked about mail that is not delivered by the list",
        "For where no later stage checks it. As in rspamd:http://127.0.0.1:11333 or spamd:inet:783@127.0.0.1. Several\n"
        "lines: the next one is asked where one fails. Mail that is delivered by the list, or exempt, never is shown "
        "to\n"
        "it. X-Spam fields that come with other mail are removed. Nothing is asked where 'mode' is observe.",
        true, true},
    OptionSpec{"deep-check-timeout", "SECONDS", "30", "how long the deeper check of a message may take",
               "All servers together. Keep it below what the mail server waits for a milter (Postfix: 300 s).", true},
    OptionSpec{"deep-check-connections", "NUMBER", "20", "how many messages are checked at a time",
               "Others wait for their turn, within their time.", true},
    OptionSpec{"deep-check-max-size", "SIZE", "10M", "how much of a message is checked, from its beginning",
               "In bytes, or with K, M or G behind the number. For rspamd as much as the mail server takes, since a "
               "part of a\n"
               "message fails its DKIM check. SpamAssassin is slow on much text: 512K suits it.",
               true},
    OptionSpec{"deep-check-memory", "SIZE", "256K", "how much of a message is kept in memory",
               "The rest is in a temporary file while the message is checked.", true},
    OptionSpec{"deep-check-folder", "FOLDER", "/var/tmp", "where temporary files are", "", true},
    OptionSpec{"deep-check-spam", "tag|quarantine|reject|tempfail", "tag", "what is done with spam",
               "tag: it gets header fields (X-Spam-Flag: YES). quarantine: also held in the mail server's queue.\n"
               "reject: refused for good. tempfail: refused for now. rspamd: its 'add header' and 'rewrite subject'.",
               true},
    OptionSpec{"deep-check-reject", "tag|quarantine|reject|tempfail", "reject",
               "what is done where rspamd says 'reject'", "", true},
    OptionSpec{"deep-check-soft-reject", "tag|quarantine|reject|tempfail", "tempfail",
               "what is done where rspamd says 'soft reject'", "", true},
    OptionSpec{"deep-check-failure", "tempfail|tag", "tempfail", "what is done where no checker answers",
               "tempfail: the sender is asked to try again later. tag: the message goes on unchecked, and its\n"
               "X-Spam-Status field says so.",
               true},
    OptionSpec{"mode", "enforce|observe", "enforce", "mark messages, or only log what would be done",
               "enforce: every X-Bloomgate field that came with a message is removed, and ours is put in.\n"
               "observe: decide and log, and touch nothing. Forged X-Bloomgate fields then stay in the message, so\n"
               "nothing downstream may trust that field while the mode is observe.",
               true},
    OptionSpec{"host-name", "NAME", "", "this host's name in the X-Bloomgate field",
               "Empty: the name that the mail server gives (its macro j), else the name of this machine.", true},
    OptionSpec{"lock-memory", "yes|no", "no", "keep the whitelist in memory, never paged out",
               "Needs a limit on locked memory (LimitMEMLOCK= in the systemd unit) of at least twice the file's\n"
               "size, since the old and the new file are in memory at once during a reload.",
               true},
    OptionSpec{"log-target", "stderr|syslog|journal", "syslog", "where the log goes",
               "syslog: facility mail, beside the mail server's own lines. journal: straight to the systemd journal.",
               true},
    OptionSpec{"log-level", "error|warning|info|debug", "info", "how much is logged",
               "info has one line for each message; warning and error have none of these.", true},
    OptionSpec{"config", "FILE", "/etc/bloomgate/bloomgate-milter.conf", "the configuration file",
               "Use /dev/null to run without one.", false},
    OptionSpec{"check-config", "", "", "check the configuration and the whitelist's header, then exit", "", false},
    OptionSpec{"explain", "", "", "explain the decision on one message, step by step, then exit",
               "The message is read from standard input, unless --header-from or --authentication-results is given.",
               false},
    OptionSpec{"from", "ADDRESS", "", "with --explain: the envelope sender",
               "Without it: that of the message's Return-Path field.", false},
    OptionSpec{"header-from", "VALUE", "", "with --explain: a From field", "", false, true},
    OptionSpec{"authentication-results", "VALUE", "", "with --explain: an Authentication-Results field", "", false,
               true},
    OptionSpec{"client", "ADDRESS", "", "with --explain: the client's IP address", "", false},
    OptionSpec{"auth-login", "NAME", "", "with --explain: the client's login", "", false},
    OptionSpec{"daemon-name", "NAME", "", "with --explain: the mail server's macro {daemon_name}", "", false},
    OptionSpec{"mta-name", "NAME", "", "with --explain: the mail server's name, its macro j", "", false},
    OptionSpec{"doctor", "", "", "look at the running system and the mail server, say what is wrong, then exit", "",
               false},
    OptionSpec{"postfix-config", "FOLDER", "/etc/postfix", "with --doctor: Postfix's configuration", "", false},
    OptionSpec{"sendmail-config", "FOLDER", "/etc/mail", "with --doctor: Sendmail's configuration", "", false},
    OptionSpec{"json", "", "", "with --explain or --doctor: print JSON", "", false},
    OptionSpec{"help", "", "", "show this help, then exit", "", false},
    OptionSpec{"version", "", "", "show the version, then exit", "", false},
};

std::string usage_form(const OptionSpec& option) {
  std::string text = "--" + std::string(option.name);
  if (!option.argument.empty()) text += "=" + std::string(option.argument);
  return text;
}

// `text` with `prefix` before each of its lines, and a line end.
void append_lines(std::string& out, std::string_view prefix, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.append(prefix).append(text.substr(0, end)).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::span<const OptionSpec> daemon_option_table() noexcept {
  return kTable;
}

const OptionSpec& option_spec(std::string_view name) noexcept {
  return *std::ranges::find(kTable, name, &OptionSpec::name);
}

std::string daemon_help_text() {
  std::string out =
      "usage: bloomgate-milter [OPTION...]\n\n"
      "Tells a mail server, for each message, whether its sender is on the whitelist (X-Bloomgate: deliver)\n"
      "or the message has to be checked more deeply (X-Bloomgate: check).\n\n"
      "Options; what the command line says goes before what the configuration file says:\n";
  for (const OptionSpec& option : kTable) {
    out += "  " + usage_form(option) + "\n";
    out.append("      ").append(option.summary);
    if (!option.default_value.empty()) out.append(" (default: ").append(option.default_value).append(")");
    out += "\n";
  }
  out +=
      "\nSIGUSR1 loads the whitelist again; SIGTERM stops the daemon.\n"
      "The manuals are bloomgate-milter(8) and bloomgate-milter.conf(5).\n";
  return out;
}

std::string daemon_config_file_text() {
  std::string out =
      "# Configuration of bloomgate-milter: see bloomgate-milter.conf(5).\n"
      "#\n"
      "# Each line is 'name = value'; what follows a '#' is a comment. Every option is shown with its default. The "
      "same\n"
      "# names, with two dashes before them, work on the command line, which goes before this file.\n"
      "# After a change: systemctl restart bloomgate-milter (a reload reads the whitelist again, not this file).\n";
  for (const OptionSpec& option : kTable) {
    if (!option.in_file) continue;
    out.append("\n# ").append(option.name).append(": ").append(option.summary);
    out.append(" (").append(option.argument).append(")\n");
    append_lines(out, "# ", option.details);
    out.append("#").append(option.name).append(" =");
    if (!option.default_value.empty()) out.append(" ").append(option.default_value);
    out += '\n';
  }
  return out;
}

}  // namespace bloomgate
