// Which spam checkers the daemon asks by itself (the deeper checks), with what limits, and what it does with their
// answers. Plain values: daemon_options.hpp fills them in; milter/deep_check/ and the daemon read them. The defaults
// are those of option_table.cpp; a test compares the two.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/enum_words.hpp"
#include "config/socket_address.hpp"

namespace bloomgate {

struct DeepCheckServer {
  enum class Kind { rspamd, spamd };

  Kind kind = Kind::rspamd;
  std::string url = {};        // rspamd: http://HOST[:PORT][/PATH] or https://…; empty if it listens on a unix socket
  SocketAddress address = {};  // spamd; and rspamd without a URL

  friend bool operator==(const DeepCheckServer&, const DeepCheckServer&) = default;
};

// What parse_deep_check_server() accepts, for messages.
inline constexpr std::string_view kDeepCheckServerForms =
    "rspamd:http://HOST:PORT, rspamd:https://HOST:PORT, rspamd:unix:PATH, spamd:unix:PATH, spamd:inet:PORT@HOST or "
    "spamd:inet6:PORT@HOST";

// A URL has a host and may have a port and a path, but no user, query or fragment. Slashes at its end are dropped.
// Returns nothing for any other text.
std::optional<DeepCheckServer> parse_deep_check_server(std::string_view text);

// The server as it is configured: "rspamd:http://127.0.0.1:11333", "spamd:inet:783@127.0.0.1".
std::string to_string(const DeepCheckServer& server);

// What the daemon does with a message that the checker calls spam, or that the checker wants rejected or deferred.
enum class SpamAction { tag, quarantine, reject, tempfail };
template <>
inline constexpr auto kWordsOf<SpamAction> = enum_words<SpamAction>({{SpamAction::tag, "tag"},
                                                                     {SpamAction::quarantine, "quarantine"},
                                                                     {SpamAction::reject, "reject"},
                                                                     {SpamAction::tempfail, "tempfail"}});

// What the daemon does with a message if no checker has answered.
enum class CheckFailureAction { tempfail, tag };
template <>
inline constexpr auto kWordsOf<CheckFailureAction> =
    enum_words<CheckFailureAction>({{CheckFailureAction::tempfail, "tempfail"}, {CheckFailureAction::tag, "tag"}});

struct DeepCheckOptions {
  std::vector<DeepCheckServer> servers = {};  // in the order in which they are tried; empty: no deeper check is asked
  // For one message: the wait for a free slot and all servers together.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  std::size_t connections = 20;                       // messages that are checked at once
  std::uint64_t max_bytes = std::uint64_t{10} << 20;  // of a longer message, only the first bytes are checked
  std::size_t memory_bytes = std::size_t{256} << 10;  // of a message kept in memory; the rest is in a temporary file
  std::string temporary_folder = "/var/tmp";          // for that file
  SpamAction on_spam = SpamAction::tag;
  SpamAction on_reject = SpamAction::reject;
  SpamAction on_soft_reject = SpamAction::tempfail;
  CheckFailureAction on_failure = CheckFailureAction::tag;
  double sample_share = 0;  // the share of delivered messages, from 0 to 1, about which the checker is asked afterwards

  friend bool operator==(const DeepCheckOptions&, const DeepCheckOptions&) = default;
};

// Whether messages may be put into quarantine. If so, the daemon has to negotiate that right with the mail server.
inline bool may_quarantine(const DeepCheckOptions& options) noexcept {
  return options.on_spam == SpamAction::quarantine || options.on_reject == SpamAction::quarantine ||
         options.on_soft_reject == SpamAction::quarantine;
}

}  // namespace bloomgate
