// The outcome of a reload, which the daemon reports to the caller. `systemctl reload` runs `bloomgate-milter reload`,
// which sends the signal, waits, and fails if the lists or the configuration were refused.
//
// The daemon writes the outcome of its last reload into the file `reload` of its runtime folder, with the time at which
// the reload began, on the monotonic clock. A reload that began after the signal was sent has read the files as they
// were then.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace bloomgate {

struct ReloadOutcome {
  std::int64_t began_microseconds = 0;  // of CLOCK_MONOTONIC
  bool accepted = false;
  std::string text = {};  // one printable line: what is served, and what was refused

  friend bool operator==(const ReloadOutcome&, const ReloadOutcome&) = default;
};

// Now, on CLOCK_MONOTONIC.
std::int64_t monotonic_microseconds() noexcept;

// The folder that systemd made for the service (RuntimeDirectory=). Empty if systemd did not start this process.
std::string runtime_folder();

// Replaces the file in one step. Throws BloomgateError{cannot_write}.
void write_reload_outcome(const std::string& folder, const ReloadOutcome& outcome);

// Nothing if there is no file, or if it is not an outcome file.
std::optional<ReloadOutcome> read_reload_outcome(const std::string& folder);

// Asks the daemon with process ID `daemon` to reload, and waits until the reload is over or the daemon has ended.
// Throws BloomgateError: not_permitted if the signal cannot be sent, no_system_resource as FileWatch does,
// library_failed if the daemon ends.
ReloadOutcome request_reload(pid_t daemon, const std::string& folder);

}  // namespace bloomgate
