// What systemd is told about the daemon: READY, RELOADING, STOPPING and the STATUS line (sd_notify(3)). Where the
// daemon was not started by systemd, nothing happens. Safe from any thread.
#pragma once

#include <string>

#include "milter/loaded_filter.hpp"

namespace bloomgate {

// "serving /var/lib/...: 10 entries, ..., loaded 2026-11-21 10:15:00 UTC"; "damaged: ..." for a damaged one; and what
// it means to have none (null).
std::string service_status(const LoadedFilter* whitelist);

// `status` must be one printable line (config/printable.hpp).
void notify_ready(const std::string& status);
void notify_reloading();
void notify_status(const std::string& status);
void notify_stopping();

}  // namespace bloomgate
