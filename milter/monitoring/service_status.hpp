// The daemon's messages to systemd: READY, RELOADING, STOPPING and the STATUS line (sd_notify(3)). If systemd did not
// start the daemon, they do nothing. Safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "milter/lists/loaded_lists.hpp"
#include "milter/policy/policy.hpp"

namespace bloomgate {

// "serving /var/lib/...: 10 entries, ..., loaded 2026-11-21 10:15:00 UTC", followed by further whitelists and the sizes
// of the exact lists. For each damaged whitelist, "damaged: ..." comes before that, and "slow: ..." for a slow store.
// Without a whitelist the text says what that means.
std::string service_status(const LoadedLists& lists, IdentityRule identity);

// "expected false-positive rate 4.27 % per message (identity = either)": how often a message whose senders are on no
// list passes as listed. The rate counts a look-up for each sender that the rule uses, as if the senders differed, in
// every whitelist that serves. For a whitelist with pairs of addresses it counts two, with the text "identity = either,
// alone and with one recipient". Empty if no whitelist serves.
std::string message_rate(const LoadedLists& lists, IdentityRule identity);

// That rate as a number from 0 to 1; nothing if no whitelist serves.
std::optional<double> false_positive_rate_of_message(const LoadedLists& lists, IdentityRule identity);

// When the whitelist's file was last written, according to its file system; nothing if that is unknown.
std::optional<std::chrono::system_clock::time_point> written_at(const LoadedFilter& whitelist) noexcept;

// The faults of lists that are loaded or should be, in the words of the status; empty if there are none. A whitelist
// that was never loaded is omitted.
std::vector<std::string> list_faults(const LoadedLists& lists);

inline constexpr std::string_view kNoWhitelist = "no whitelist is loaded: all mail is sent to the deeper checks";

inline constexpr std::string_view kRevokedIsLost =
    "the list revoked cannot be read, so no message is delivered: all mail is sent to the deeper checks until it can";

inline constexpr std::string_view kOptOutIsLost =
    "the list opt-out cannot be read, so no message is delivered: all mail is sent to the deeper checks until it can";

// In the status, before the names of options that a reload could not apply.
inline constexpr std::string_view kWaitsForRestart = "waits for a restart: ";

// In the status, before the reason.
inline constexpr std::string_view kNothingIsLearned = "nothing is learned: ";

// What the log and the status say when ResultsWatch finds that results are missing.
inline constexpr std::string_view kNoTrustedResults =
    "no message of the last 1000 had an Authentication-Results field that is trusted, so none counted as "
    "authenticated: let a milter before this one write them (OpenDKIM, OpenDMARC, rspamd), and set trusted-authserv-id "
    "to the name that it puts first";

// `status` must be one printable line (filter/base/printable.hpp).
void notify_ready(const std::string& status);
// `began_microseconds` is the time at which the reload began (reload_outcome.hpp).
void notify_reloading(std::int64_t began_microseconds);
void notify_status(const std::string& status);
void notify_stopping();
// If systemd's watchdog is on (sd_watchdog_enabled(3)), it restarts the daemon unless this is called in time.
void notify_alive() noexcept;

}  // namespace bloomgate
