// What bloomgate-milter was told to do: its command line and its configuration file, read, checked and merged.
// milter/main.cpp calls this once, before anything else; the result is a plain value.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_error.hpp"
#include "config/deep_check_options.hpp"
#include "config/enum_words.hpp"
#include "config/ip_network.hpp"
#include "config/list_commands.hpp"
#include "config/policy_choices.hpp"
#include "config/socket_address.hpp"
#include "filter/base/public_key.hpp"

namespace bloomgate {

enum class Mode { enforce, observe };
template <>
inline constexpr auto kWordsOf<Mode> = enum_words<Mode>({{Mode::enforce, "enforce"}, {Mode::observe, "observe"}});

enum class LogTarget { standard_error, syslog, journal };
template <>
inline constexpr auto kWordsOf<LogTarget> = enum_words<LogTarget>(
    {{LogTarget::standard_error, "stderr"}, {LogTarget::syslog, "syslog"}, {LogTarget::journal, "journal"}});

enum class LogLevel { error, warning, info, debug };
template <>
inline constexpr auto kWordsOf<LogLevel> = enum_words<LogLevel>(
    {{LogLevel::error, "error"}, {LogLevel::warning, "warning"}, {LogLevel::info, "info"}, {LogLevel::debug, "debug"}});

// A filter file, and its name in header fields and logs.
struct WhitelistSource {
  std::string name;
  std::string path;
  std::string store = {};             // the path of the store that confirms its hits; empty: its hits count unconfirmed
  TrustedKeys trusted_keys = {};      // one of them must have signed the file and its manifest; empty: no need
  std::string taken_manifests = {};   // the file that stores which manifests were accepted; empty: none are stored
  std::chrono::days overdue_for{60};  // how long the whitelist is still used after its manifest's date

  friend bool operator==(const WhitelistSource&, const WhitelistSource&) = default;
};

// One member for each option of the table (option_table.hpp) that a configuration file may have. The table has the
// defaults, not this struct.
struct DaemonOptions {
  enum class VerifyDkim { automatic, yes, no };
  enum class Learn { none, outbound };

  SocketAddress socket;
  mode_t socket_mode;
  std::string socket_group;                 // empty: leave it as it is
  std::size_t max_connections;              // at least 1
  std::chrono::seconds connection_timeout;  // from 1 s to 7,200 s, libmilter's own
  std::vector<WhitelistSource> whitelists;  // at least one; their names differ
  std::chrono::milliseconds confirm_timeout;
  bool allow_missing_whitelist;
  bool allow_shrunken_whitelist;
  std::string revoked;              // a path; empty: none
  std::string extra;                // a path; empty: none
  std::string opt_out;              // a path; empty: none
  std::string recipient_delimiter;  // characters, as the operator wrote them
  IdentityRule identity;
  AuthenticationRule authentication;
  Alignment alignment;
  SpfProves spf_proves;
  std::vector<std::string> trusted_authserv_ids;  // empty: the mail server's name
  std::size_t trusted_fields;                     // 0: all
  VerifyDkim verify_dkim;
  bool require_oversigned;
  std::vector<std::string> require_signed;  // names of header fields, of those that the option lists
  std::chrono::days max_signature_age;
  std::vector<std::string> dns_servers;  // "192.0.2.53", "192.0.2.53@5353"; empty: those of /etc/resolv.conf
  std::chrono::milliseconds dns_timeout;
  std::string dns_trust_anchor;  // a path; empty: answers are not validated
  bool dmarc_fail_veto;
  bool trust_arc;
  std::vector<std::string> own_domains;         // as the operator wrote them, in canonical form
  std::vector<std::string> trusted_forwarders;  // domains
  bool undo_batv;
  std::vector<IpNetwork> exempt_networks;
  bool exempt_authenticated;
  std::vector<std::string> exempt_daemons;
  ExemptAction exempt_action;
  Learn learn;
  std::string learn_file;  // a path
  std::chrono::days learn_keep;
  std::size_t learn_max_recipients;
  std::size_t learn_rate;  // entries an hour, for each login
  bool learn_from_exempt;
  std::size_t learn_exempt_rate;              // for each client of exempt_networks
  std::vector<WhitelistSource> learned_from;  // what other hosts have learned: their folders, and the keys of each host
  std::string learn_key;                      // a path; empty: none
  std::size_t burst_limit;                    // messages an hour; 0: the brake is off
  std::size_t burst_recipients;
  std::chrono::days burst_observe;
  std::string burst_file;  // a path
  bool suspend;
  std::string suspend_file;  // a path
  DeepCheckOptions deep_check;
  Mode mode;
  bool mark_tells_why;
  std::string host_name;  // empty: the name that the mail server gives
  bool lock_memory;
  std::uint64_t recheck_bytes_per_hour;  // 0: never
  LogTarget log_target;
  LogLevel log_level;
  std::string history_file;                    // a path
  std::optional<SocketAddress> metrics;        // where the figures and the status page are shown; nothing: nowhere
  std::optional<SocketAddress> lookup_socket;  // where other programs look up senders; nothing: nowhere
  bool lookup_learned_over_tcp;
  std::size_t lookup_messages;  // how many messages are decided there at once; 0: none is decided there
  std::string lookup_token;     // a path; empty: no token is required
};
template <>
inline constexpr auto kWordsOf<DaemonOptions::VerifyDkim> =
    enum_words<DaemonOptions::VerifyDkim>({{DaemonOptions::VerifyDkim::automatic, "auto"},
                                           {DaemonOptions::VerifyDkim::yes, "yes"},
                                           {DaemonOptions::VerifyDkim::no, "no"}});
template <>
inline constexpr auto kWordsOf<DaemonOptions::Learn> = enum_words<DaemonOptions::Learn>(
    {{DaemonOptions::Learn::none, "none"}, {DaemonOptions::Learn::outbound, "outbound"}});

// Whether senders can be listed for the users who have written to them, on whatever host this was learned.
inline bool knows_learned(const DaemonOptions& options) noexcept {
  return options.learn != DaemonOptions::Learn::none || !options.learned_from.empty();
}

// Whether the daemon itself sends messages to a deeper check.
inline bool asks_deep_check(const DaemonOptions& options) noexcept {
  return options.mode == Mode::enforce && !options.deep_check.servers.empty();
}

// Whether the daemon verifies DKIM signatures itself.
inline bool verifies_signatures(const DaemonOptions& options) noexcept {
  if (options.verify_dkim != DaemonOptions::VerifyDkim::automatic) {
    return options.verify_dkim == DaemonOptions::VerifyDkim::yes;
  }
  if (options.authentication == AuthenticationRule::off && options.own_domains.empty()) return false;
  return options.trusted_authserv_ids.empty();
}

// A message whose decision is to be explained, with what the command line says of it.
struct ExplainOptions {
  std::optional<std::string> from;  // the envelope sender
  std::vector<std::string> to;      // the recipients; empty: they are not known
  std::vector<std::string> header_from;
  std::vector<std::string> authentication_results;
  std::optional<IpAddress> client;
  std::optional<std::string> auth_login;
  std::optional<std::string> daemon_name;
  std::optional<std::string> mta_name;  // the mail server's name for itself, its macro j
  bool json = false;
};

// What `doctor` examines besides the daemon's own configuration.
struct DoctorOptions {
  std::string postfix_config;
  std::string sendmail_config;
  std::string clamd;                      // empty: as its own files say
  std::vector<std::string> fingerprints;  // of the whitelists on other servers, which should be the same
  std::string send;                       // the recipient of test messages; empty: none are sent
  std::string signed_message;             // a file; empty: none
  std::string smtp;                       // host:port
  std::vector<std::string> logs;          // files, beside the journal
  bool json = false;
};

struct DaemonCommand {
  enum class Action { run, check_config, reload, doctor, edit_list, explain, why, suspended, moved, help, version };

  Action action = Action::run;
  std::string config_path;     // the configuration file that was read
  DaemonOptions options = {};  // not filled in for help and version, which read no file
  // The names of the options that the file or the command line gives. All others have their defaults.
  std::set<std::string, std::less<>> given = {};
  ExplainOptions explain = {};
  DoctorOptions doctor = {};
  ListCommand list = {};
  WhyCommand why = {};
  SuspendedCommand suspended = {};
  MovedCommand moved = {};
  std::string help_for = {};  // the command that help is about; empty: all
  pid_t reload_process = 0;   // the process of the daemon that `reload` notifies; 0: that of the systemd unit
};

// Reads the command line (`arguments` without the program's name) and the configuration file that it names, or else the
// default file. The command line overrides the file. If an option may be repeated, its values on the command line
// replace all its values in the file. Throws config_error() for an unknown option, an option given twice in one place,
// an unusable value, and an unreadable file. Throws ConfigErrors if the file has several faults. The daemon does not
// run without a file, but /dev/null is enough.
DaemonCommand read_daemon_command(const std::vector<std::string>& arguments);

// Whether `name` can be a host's name in a header field: 1 to 255 letters, digits, dots, hyphens and underscores, or
// the colons and brackets of an address literal.
bool is_host_name(std::string_view name) noexcept;

}  // namespace bloomgate
