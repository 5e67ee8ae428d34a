#include "milter/service_status.hpp"

#include <systemd/sd-daemon.h>

#include <ctime>

#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

std::string utc_time(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[sizeof "2026-11-21 10:15:00 UTC" + 8];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

}  // namespace

std::string service_status(const LoadedLists& lists) {
  const ListParts& parts = lists.parts();
  const std::size_t count = parts.whitelists.size();
  std::string damaged, serving;
  if (parts.revoked_is_lost) damaged += std::string(kRevokedIsLost) + "; ";
  if (parts.extra_is_lost) damaged += "the list extra cannot be read, so nobody is listed by it; ";
  for (const auto& [name, whitelist] : parts.whitelists) {
    if (whitelist == nullptr) continue;
    if (const Damage damage = whitelist->damage(); damage != Damage::none) {
      damaged += "damaged: " + printable(whitelist->path()) + " " + std::string(damage_text(damage)) + "; " +
                 (count == 1 ? "all mail is sent to the deeper checks" : "it lists nobody") +
                 " until a good file is loaded";
      damaged += "; ";
    } else {
      serving += (serving.empty() ? "serving " : "; ") + whitelist->description() + ", loaded " +
                 utc_time(whitelist->loaded_at());
    }
  }
  std::string status = damaged + serving;
  if (status.empty()) status = "no whitelist is loaded: all mail is sent to the deeper checks";
  if (status.ends_with("; ")) status.resize(status.size() - 2);
  if (parts.revoked) status += "; " + std::to_string(parts.revoked->size()) + " revoked entries";
  if (parts.extra) status += "; " + std::to_string(parts.extra->size()) + " extra entries";
  return status;
}

void notify_ready(const std::string& status) {
  sd_notify(0, ("READY=1\nSTATUS=" + status).c_str());
}

void notify_reloading() {
  // systemd compares this time to know whether a READY=1 answers this reload (sd_notify(3)).
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long long microseconds = now.tv_sec * 1'000'000LL + now.tv_nsec / 1000;
  sd_notify(0,
            ("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds) + "\nSTATUS=loading the whitelist").c_str());
}

void notify_status(const std::string& status) {
  sd_notify(0, ("STATUS=" + status).c_str());
}

void notify_stopping() {
  sd_notify(0, "STOPPING=1\nSTATUS=stopping");
}

}  // namespace bloomgate
