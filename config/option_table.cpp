#include "config/option_table.hpp"

#include <algorithm>
#include <array>

#include "config/list_commands.hpp"

namespace bloomgate {
namespace {

constexpr std::array kOptions = {
    OptionSpec{"socket", "ADDRESS", "unix:/run/bloomgate/milter.sock", "where the mail server connects",
               "unix:PATH (or local:PATH), inet:PORT@HOST or inet6:PORT@HOST, as in inet:8891@127.0.0.1.\n"
               "There is no password: whoever can connect can ask who is on the whitelist. Takes effect at a restart.",
               true},
    OptionSpec{"socket-mode", "MODE", "0660", "permissions of a unix socket, in octal",
               "Whoever may write to the socket may connect. Takes effect at a restart.", true},
    OptionSpec{"socket-group", "GROUP", "", "group of a unix socket",
               "Empty: the group that the daemon runs as. Put the mail server's user into that group:\n"
               "usermod -a -G bloomgate postfix. Takes effect at a restart.",
               true},
    OptionSpec{"max-connections", "NUMBER", "2000", "how many connections of mail servers may be open at once",
               "A further one is ended at once, and the mail server goes by what it is told to do without the daemon\n"
               "(Postfix: milter_default_action). The log and the figures count them. Each takes a descriptor, and a\n"
               "second one while a long message is kept for a checker (LimitNOFILE= in the systemd unit).",
               true},
    OptionSpec{"connection-timeout", "SECONDS", "7200", "how long a connection may stay without a whole step",
               "A byte now and then is none. Mail servers keep a connection while their client is slow, so keep it\n"
               "longer than they wait for a client (Sendmail: an hour). At most 7200. A connection that has taken no\n"
               "step at all is ended after 30 seconds.",
               true},
    OptionSpec{
        "whitelist", "[NAME=]FILE", "/var/lib/bloomgate/whitelist.bloom", "a filter file made by 'bloomgate build'",
        "Several lines give several whitelists: a sender on any of them is listed. Logs and header fields call the\n"
        "whitelist by its name, as in partners=/srv/lists/2026.bloom; the default is the file's name up to its last\n"
        "dot. The daemon checks the whole file when it loads it: at the start, on SIGUSR1 (systemctl reload), and\n"
        "whenever another file has taken its place. To replace it, rename a new file over it, as 'bloomgate build'\n"
        "does. Never change it in place: it then lists nobody until a good file is loaded. FILE may also be a folder:\n"
        "each file in it whose name ends in .bloom is then a layer of the whitelist, and all are loaded together.",
        true, true},
    OptionSpec{
        "trusted-key", "KEY...", "", "public keys, one of which must have signed each whitelist",
        "As 'bloomgate sign --public-key FILE' prints them. A whitelist, or a layer, that none of them has signed is\n"
        "refused as a damaged one is, and the last good one stays in use. Give two while the key is changed: the old\n"
        "one and the new one. Stores, 'revoked' and 'extra' are not signed. Empty: any whitelist is taken.",
        true, true},
    OptionSpec{
        "confirm", "[NAME=]FILE", "", "the store that confirms what the whitelist has found",
        "Made with the whitelist, by 'bloomgate build --store FILE'. A sender that the whitelist has found is then\n"
        "looked up on the disk too, and is listed only if it is there: a stranger passes less than once in 10^9.\n"
        "Several whitelists: one line each, with the whitelist's NAME. Replace both files: the daemon takes them in\n"
        "together. It refuses two that do not belong together, and keeps the two that it has.",
        true, true},
    OptionSpec{"confirm-timeout", "SECONDS", "2", "how long a message waits for its stores",
               "A message that gets no answer in time is sent to the deeper checks.", true},
    OptionSpec{"allow-missing-whitelist", "yes|no", "no", "start even if the whitelist cannot be used",
               "With 'yes' the daemon starts without a whitelist, and sends all mail to the deeper checks. It loads\n"
               "the file as soon as it is there and good.",
               true, false, "yes"},
    OptionSpec{
        "allow-shrunken-whitelist", "yes|no", "no", "take a whitelist of less than a tenth of the entries",
        "One that replaces another and has less than a tenth of its entries, or none, is most likely a mistake.\n"
        "So it is refused, and the one in use goes on to serve. With 'yes' it is taken.",
        true},
    OptionSpec{
        "revoked", "FILE", "", "entries that are never delivered, whatever the whitelists say",
        "A text file of exact entries, one per line: joe@example.org, @example.org or @.example.org; for one\n"
        "recipient joe@example.org > ann@ours.example. Use it to take out an entry, or a false positive, at once. It\n"
        "is read at the start, at a reload, and whenever it changes.",
        true, false, BLOOMGATE_CONFIG_FOLDER "/revoked.txt"},
    OptionSpec{"extra", "FILE", "", "entries that count as listed, beside the whitelists",
               "A text file like that of 'revoked', read as often. An entry in both is revoked.", true, false,
               BLOOMGATE_CONFIG_FOLDER "/extra.txt"},
    OptionSpec{
        "opt-out", "FILE", "", "recipients whose mail is always checked",
        "A text file like that of 'revoked', read as often, but of recipients: ann@ours.example, @ours.example or\n"
        "@.ours.example. A message that has another recipient as well is checked for both, since it has one mark.",
        true, false, BLOOMGATE_CONFIG_FOLDER "/opt-out.txt"},
    OptionSpec{"recipient-delimiter", "CHARACTERS", "", "what starts a tag in a recipient's address",
               "For entries for one recipient, as joe@example.org > ann@ours.example. With '+', mail for\n"
               "ann+shop@ours.example is looked up as mail for ann@ours.example. Set it as the mail server has it:\n"
               "postconf -h recipient_delimiter. Empty: ann+shop@ours.example is another recipient.",
               true},
    OptionSpec{
        "identity", "envelope|header-from|either|both", "either", "which sender has to be on the whitelist",
        "envelope: the sender in the MAIL command. header-from: the sender in the From field. either: one of the two\n"
        "is enough. both: each of the two has to be.",
        true},
    OptionSpec{"authentication", "required|preferred|off", "required", "whether a sender has to be authenticated",
               "required: a listed sender counts only if DKIM, SPF or DMARC passed for it. preferred: it also counts\n"
               "if nothing is known of it. off: anyone can forge a listed sender and skip the deeper checks.",
               true},
    OptionSpec{
        "alignment", "parent|strict|relaxed", "parent", "which domain may sign for the sender's domain",
        "parent: the same one, or one above it of the same organisation (example.org for news.example.org).\n"
        "strict: only the same one. relaxed: any of the organisation, as DMARC has it, unless the owner's DMARC\n"
        "record forbids that (adkim=s); at a provider that gives each customer a name below its own, each\n"
        "customer can then sign for all others, unless a DMARC record keeps them apart (psd=y, psd=n).",
        true},
    OptionSpec{"spf-proves", "domain|address|no", "domain", "what a pass of SPF for the envelope sender proves",
               "domain: its domain, so senders that are listed by their domain count. address: the very address;\n"
               "anyone at the same provider or mailing service can pass as it, where these let users choose the\n"
               "envelope sender. no: nothing.",
               true},
    OptionSpec{"trusted-authserv-id", "NAME...", "", "names whose Authentication-Results fields are trusted",
               "The names that your own milters and mail servers put first into that field. The mail server must\n"
               "remove such fields from incoming mail. Empty: nobody's; with 'verify-dkim = no', the name that the\n"
               "mail server gives (its macro j).",
               true, true},
    OptionSpec{"trusted-fields", "NUMBER", "0", "how many Authentication-Results fields are read, from the top",
               "0: all. Otherwise the number of earlier milters that each write one into every message: a field that\n"
               "a sender has forged is below theirs. Sendmail needs it, since it cannot remove such fields itself.",
               true},
    OptionSpec{
        "verify-dkim", "auto|yes|no", "auto",
        "whether the daemon itself verifies the DKIM signatures of listed senders",
        "auto: yes if 'trusted-authserv-id' is empty, else no. It verifies only what decides: aligned signatures\n"
        "of a message that is delivered if one is good, and those of other senders at a listed one's domain, so\n"
        "that nobody outside sees who is listed. For all other mail no name is looked up. no: only\n"
        "Authentication-Results fields count. yes with 'trusted-authserv-id': each of the two is enough.",
        true},
    OptionSpec{"require-oversigned", "yes|no", "no", "count only signatures that nobody can add a From field to",
               "yes: a signature has to sign the From field once more than it occurs.", true},
    OptionSpec{
        "require-signed", "FIELD...", "", "more header fields that a signature must cover where they are there",
        "To, Cc, Date, Message-ID, References, In-Reply-To, List-Unsubscribe, List-Id, MIME-Version,\n"
        "Content-Type, Content-Transfer-Encoding, Content-Disposition. From, Sender, Reply-To and Subject always\n"
        "have to be covered. The manual says what common signing software covers.",
        true, true},
    OptionSpec{"max-signature-age", "DAYS", "10d", "how long after it was made a signature counts",
               "In days. A message that somebody has kept is not delivered later than that.", true},
    OptionSpec{"dns-servers", "ADDRESS[@PORT]...", "", "name servers that are asked for the keys of signatures",
               "Empty: those of /etc/resolv.conf, which is read at the start. A caching server nearby is best.", true,
               true},
    OptionSpec{"dns-timeout", "SECONDS", "5", "how long a message waits for the keys of its signatures",
               "A message that gets none in time is sent to the deeper checks.", true},
    OptionSpec{
        "dns-trust-anchor", "FILE", "", "keys by which DNSSEC validates the answers of name servers",
        "The root zone's are in /usr/share/dns/root.key (Debian's package dns-root-data). A forged answer is then\n"
        "no key. Name servers that leave out DNSSEC's signatures would make every answer a forged one: try\n"
        "--doctor --dns-trust-anchor /usr/share/dns/root.key first. Empty: answers are believed.",
        true},
    OptionSpec{"dmarc-fail-veto", "yes|no", "yes",
               "check every message that failed DMARC, even if another sender is listed and authenticated", "", true},
    OptionSpec{"trust-arc", "yes|no", "no", "accept arc=pass as authentication for the From field's domain",
               "Anyone can seal a chain, so this needs an earlier milter that passes only chains of known sealers.",
               true},
    OptionSpec{"own-domains", "DOMAIN...", "", "your own domains, which nobody outside may use without authentication",
               "Mail that claims one of them is delivered only if it is authenticated, whatever 'authentication'\n"
               "says. A dot before the name includes all domains below it: .example.org",
               true, true},
    OptionSpec{"trusted-forwarders", "DOMAIN...", "", "forwarders whose rewritten senders (SRS) are undone",
               "A sender rewritten by any other forwarder is looked up as it is, since anyone can write one.", true,
               true},
    OptionSpec{"undo-batv", "yes|no", "yes", "look up the sender behind a BATV tag (prvs=, btv1==)", "", true},
    OptionSpec{"exempt-networks", "NETWORK...", "", "clients whose mail is not incoming",
               "Addresses and networks such as 192.0.2.0/24 and 2001:db8::/32.", true, true},
    OptionSpec{"exempt-authenticated", "yes|no", "yes", "mail of users who logged in (SASL) is not incoming",
               "The name in a client's TLS certificate is not a login.", true},
    OptionSpec{"exempt-daemons", "NAME...", "", "names of the mail server's listeners whose mail is not incoming",
               "The names are those in its macro {daemon_name}.", true, true},
    OptionSpec{"exempt-action", "none|deliver", "none", "what happens to mail that is not incoming",
               "none: it is not marked. deliver: it is marked for delivery. Forged marks are removed in both cases.",
               true},
    OptionSpec{
        "learn", "none|outbound", "none", "list for a user whom that user writes to",
        "outbound: when a user who has logged in (SASL) sends mail from an address in 'own-domains', each recipient\n"
        "is listed for that user, from the next message on. Authentication is asked for as for all who are listed.\n"
        "The mail server must say who may use which sender (Postfix: reject_sender_login_mismatch). Not learned:\n"
        "bounces, automatic messages and those of mailing lists.",
        true},
    OptionSpec{"learn-file", "FILE", "/var/lib/bloomgate/learned/learned.db", "the database of what is learned",
               "'bloomgate learned' shows it, takes somebody out, and makes a list of it. The daemon makes the file,\n"
               "and its user must be able to write to the folder.",
               true},
    OptionSpec{"learn-keep", "DAYS", "180d", "how long somebody stays listed without any message either way",
               "In days; each message renews it.", true},
    OptionSpec{"learn-max-recipients", "NUMBER", "20", "from messages to more recipients nothing is learned", "", true},
    OptionSpec{"learn-rate", "NUMBER", "100", "how many new entries an hour one login may have learned",
               "So that a hijacked account does not fill the list. The log says when a login has met it.", true},
    OptionSpec{"learn-from-exempt", "yes|no", "no",
               "learn also from clients of exempt-networks that have not logged in",
               "yes: a program on such a client, such as the form of a web page, can list anybody for any user, as\n"
               "many as learn-exempt-rate allows. Set it if users send their mail through such a client.",
               true},
    OptionSpec{
        "learn-exempt-rate", "NUMBER", "100", "how many new entries an hour one such client may have learned",
        "For 'learn-from-exempt'. Clients of one IPv6 network (/64) count as one client. 'learn-rate' holds for\n"
        "each user, too. The log names the messages from which it kept something.",
        true},
    OptionSpec{
        "deep-check", "none|rspamd:URL|rspamd:unix:PATH|spamd:ADDRESS", "none",
        "the spam checker that the daemon asks about mail whose decision is 'check'",
        "Use it if no later stage checks that mail. Examples: rspamd:http://127.0.0.1:11333,\n"
        "spamd:inet:783@127.0.0.1. Several lines give several servers; if one fails, the daemon asks the next. The\n"
        "checker never sees exempt mail, and of the mail that a list delivers only samples ('deep-check-sample').\n"
        "X-Spam fields that come with other mail are removed. If 'mode' is observe, the daemon asks no checker.",
        true, true},
    OptionSpec{"deep-check-timeout", "SECONDS", "30", "how long the deeper check of a message may take",
               "This includes all servers. Keep it below the time that the mail server waits for a milter (Postfix:\n"
               "300 s).",
               true},
    OptionSpec{"deep-check-connections", "NUMBER", "20", "how many messages are checked at once",
               "Other messages wait for their turn, within their time.", true},
    OptionSpec{"deep-check-max-size", "SIZE", "10M", "how much of a message is checked, from its beginning",
               "In bytes, or with K, M or G after the number. For rspamd, set it to the largest message that the mail\n"
               "server accepts, since a message that is cut off fails its DKIM check. SpamAssassin is slow on long\n"
               "texts: 512K suits it.",
               true},
    OptionSpec{"deep-check-memory", "SIZE", "256K", "how much of a message is kept in memory",
               "The rest is in a temporary file while the message is checked.", true},
    OptionSpec{"deep-check-folder", "FOLDER", "/var/tmp", "where temporary files are put", "", true},
    OptionSpec{"deep-check-spam", "tag|quarantine|reject|tempfail", "tag", "what the daemon does with spam",
               "tag: it gets header fields (X-Spam-Flag: YES). quarantine: also held in the mail server's queue.\n"
               "reject: refused for good. tempfail: refused for now. rspamd: its 'add header' and 'rewrite subject'.",
               true},
    OptionSpec{"deep-check-reject", "tag|quarantine|reject|tempfail", "reject",
               "what the daemon does when rspamd says 'reject'", "", true},
    OptionSpec{"deep-check-soft-reject", "tag|quarantine|reject|tempfail", "tempfail",
               "what the daemon does when rspamd says 'soft reject'", "", true},
    OptionSpec{"deep-check-failure", "tempfail|tag", "tag", "what the daemon does when no checker answers",
               "tempfail: the sender is asked to try again later. tag: the message goes on unchecked, and its\n"
               "X-Spam-Status field says so.",
               true},
    OptionSpec{"deep-check-sample", "PERCENT", "0%", "how many delivered messages the checker is asked about too",
               "As in 0.1%: of a thousand messages that a list delivers, one is shown to the checker after it was\n"
               "delivered, whatever the checker says. The share that it calls spam is in the figures ('metrics'), and\n"
               "the log and 'bloomgate report' name their senders. Exempt mail is left out. 0%: none.",
               true},
    OptionSpec{"mode", "enforce|observe", "enforce", "mark messages, or only log the decisions",
               "enforce: the daemon removes every X-Bloomgate field that came with a message, and adds its own.\n"
               "observe: the daemon decides and logs, but does not touch the message. Forged X-Bloomgate fields then\n"
               "stay in it, so nothing after the daemon may trust that field in this mode.",
               true},
    OptionSpec{
        "mark-tells-why", "yes|no", "no", "tell in the X-Bloomgate field why a message is checked",
        "no: 'not-proven' stands for each reason that depends on the lists. Bounces carry the field to strangers,\n"
        "who could learn from it whom you list. yes: where the field never leaves your servers. The log, the\n"
        "figures and --explain always tell it.",
        true},
    OptionSpec{"host-name", "NAME", "", "this host's name in the X-Bloomgate field",
               "Empty: the name that the mail server gives (its macro j), or else the name of this machine.", true},
    OptionSpec{"lock-memory", "yes|no", "no", "keep the whitelist in memory, never paged out",
               "Needs a limit on locked memory (LimitMEMLOCK= in the systemd unit) of at least twice the file's\n"
               "size, since the old and the new file are both in memory during a reload.",
               true},
    OptionSpec{"recheck-rate", "SIZE", "1G", "how much of the whitelists is checked again in an hour",
               "While they are in use, by their checksums and in the background, so that a bit that has gone bad in\n"
               "memory or on the disk is found: all mail is sent to the deeper checks then. 0: never.",
               true},
    OptionSpec{"log-target", "stderr|syslog|journal", "syslog", "where the log goes",
               "syslog: facility mail, beside the mail server's own lines. journal: straight to the systemd journal.\n"
               "Takes effect at a restart.",
               true},
    OptionSpec{"log-level", "error|warning|info|debug", "info", "how much is logged",
               "info has one line for each message; warning and error have none of these.", true},
    OptionSpec{"metrics", "HOST:PORT|PATH", "", "where Prometheus and a browser are shown what the daemon does",
               "Empty: nowhere. 127.0.0.1:9812: figures for Prometheus at http://127.0.0.1:9812/metrics, and a page\n"
               "for people at http://127.0.0.1:9812/. A path: the same on a unix socket. Anybody who reaches the\n"
               "address may read both, so keep it on loopback. Takes effect at a restart.",
               true},
    OptionSpec{
        "lookup-socket", "HOST:PORT|PATH", "", "where other programs ask whether a sender is listed",
        "Empty: nowhere. 127.0.0.1:9813: Postfix asks there with 'socketmap:inet:127.0.0.1:9813:senders', other\n"
        "programs by HTTP, 'http://127.0.0.1:9813/sender?address=joe@example.org'. The answer is 'listed' or\n"
        "'revoked' or neither. It never says that a message is from that sender, so it must not permit anything\n"
        "by itself. Whoever reaches the address can ask who is listed, so keep it on loopback. A path: a unix\n"
        "socket with socket-mode and socket-group, which also answers for what was learned. Takes effect at a\n"
        "restart.",
        true},
    OptionSpec{"lookup-learned-over-tcp", "yes|no", "no", "answer for what was learned at a TCP address, too",
               "For 'lookup-socket' and 'learn'. yes: every program and every user that reaches the address can ask\n"
               "whether one of your users has written to somebody. no: at a TCP address the answer is as if nothing\n"
               "had been learned. A unix socket always answers for it: its mode says who may ask.",
               true},
    OptionSpec{"config", "FILE", BLOOMGATE_CONFIG_FOLDER "/bloomgate-milter.conf", "the configuration file",
               "Use /dev/null to run without one.", false},
    OptionSpec{"check-config", "", "", "check the configuration and the whitelist's header, then exit", "", false},
    OptionSpec{"explain", "", "", "explain the decision on one message, step by step, then exit",
               "The message is read from standard input, unless --header-from or --authentication-results is given.",
               false},
    OptionSpec{"from", "ADDRESS", "", "with --explain: the envelope sender",
               "Default: the sender in the message's Return-Path field.", false},
    OptionSpec{"to", "ADDRESS", "", "with --explain: a recipient",
               "Give one for each recipient. They make a difference where a whitelist has entries for one recipient.",
               false, true},
    OptionSpec{"header-from", "VALUE", "", "with --explain: a From field", "", false, true},
    OptionSpec{"authentication-results", "VALUE", "", "with --explain: an Authentication-Results field", "", false,
               true},
    OptionSpec{"client", "ADDRESS", "", "with --explain: the client's IP address", "", false},
    OptionSpec{"auth-login", "NAME", "", "with --explain: the client's login", "", false},
    OptionSpec{"daemon-name", "NAME", "", "with --explain: the mail server's macro {daemon_name}", "", false},
    OptionSpec{"mta-name", "NAME", "", "with --explain: the mail server's name, its macro j", "", false},
    OptionSpec{"reload", "PID", "",
               "let the daemon that is process PID load its lists again, and say what became of it", "", false},
    OptionSpec{"doctor", "", "", "look at the running system and the mail server, say what is wrong, then exit", "",
               false},
    OptionSpec{"postfix-config", "FOLDER", "/etc/postfix", "with --doctor: Postfix's configuration", "", false},
    OptionSpec{"sendmail-config", "FOLDER", "/etc/mail", "with --doctor: Sendmail's configuration", "", false},
    OptionSpec{"clamd", "ADDRESS", "", "with --doctor: where clamd listens, unix:PATH or inet:HOST:PORT", "", false},
    OptionSpec{"fingerprint", "HEX", "", "with --doctor: the fingerprint of the whitelist on other servers", "", false,
               true},
    OptionSpec{"send", "RECIPIENT", "",
               "with --doctor: send messages to RECIPIENT (postmaster, if none is named), and say what became of each",
               "", false},
    OptionSpec{"signed-message", "FILE", "", "with --send: a saved message from a listed sender", "", false},
    OptionSpec{"smtp", "HOST:PORT", "127.0.0.1:25", "with --send: the mail server", "", false},
    OptionSpec{"log", "FILE", "", "with --doctor or why: a log of the mail server or the daemon", "", false, true},
    OptionSpec{"json", "", "", "with --explain, --doctor or a command: print JSON", "", false},
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

void append_default(std::string& out, const OptionSpec& option) {
  out.append("# Without this line: ");
  out.append(option.default_value.empty() ? "none" : option.default_value).append(".\n");
}

}  // namespace

std::span<const OptionSpec> daemon_option_table() noexcept {
  return kOptions;
}

const OptionSpec& option_spec(std::string_view name) noexcept {
  return *std::ranges::find(kOptions, name, &OptionSpec::name);
}

std::string daemon_help_text() {
  std::string out =
      "usage: bloomgate-milter [OPTION...] [COMMAND ENTRY...]\n\n"
      "Tells a mail server, for each message, whether its sender is on the whitelist (X-Bloomgate: deliver)\n"
      "or the message needs the deeper checks (X-Bloomgate: check).\n\n"
      "Commands, which edit the exact lists; a running daemon reads these again within a second:\n";
  for (const ListCommandSpec& command : list_command_table()) {
    out.append("  ").append(command.name).append(" ENTRY...\n      ").append(command.summary).append("\n");
  }
  out.append("\nAnother command reads the log:\n  ").append(kWhyCommand).append(" QUEUE-ID|ADDRESS\n      ");
  out.append(kWhySummary).append("\n");
  out += "\nOptions (the command line overrides the configuration file):\n";
  for (const OptionSpec& option : kOptions) {
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

std::string daemon_option_list() {
  std::string out;
  for (const OptionSpec& option : kOptions) {
    out.append("option\t").append(option.name).append("\t\t").append(option.argument).append("\t");
    out.append(option.summary).append("\n");
  }
  for (const ListCommandSpec& command : list_command_table()) {
    out.append("word\t").append(command.name).append("\t").append(command.summary).append("\n");
  }
  out.append("word\t").append(kWhyCommand).append("\t").append(kWhySummary).append("\n");
  return out;
}

std::string daemon_config_file_text() {
  std::string out =
      "# Configuration of bloomgate-milter: see bloomgate-milter.conf(5).\n"
      "#\n"
      "# Each line is 'name = value'; a '#' starts a comment. Every option is shown with its default, behind a '#',\n"
      "# or is set here. The same names, with two dashes before them, work on the command line, which overrides\n"
      "# this file.\n"
      "# After a change: systemctl reload bloomgate-milter. It takes in everything but the options that say "
      "otherwise,\n"
      "# names those, and fails if something is wrong.\n";
  for (const OptionSpec& option : kOptions) {
    if (!option.in_file) continue;
    out.append("\n# ").append(option.name).append(": ").append(option.summary);
    out.append(" (").append(option.argument).append(")\n");
    append_lines(out, "# ", option.details);
    const bool is_set = !option.shipped_value.empty();
    if (is_set) append_default(out, option);
    const std::string_view value = is_set ? option.shipped_value : option.default_value;
    out.append(is_set ? "" : "#").append(option.name).append(" =");
    if (!value.empty()) out.append(" ").append(value);
    out += '\n';
  }
  return out;
}

}  // namespace bloomgate
