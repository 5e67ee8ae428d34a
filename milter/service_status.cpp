#include "milter/service_status.hpp"

#include <spdlog/fmt/fmt.h>
#include <systemd/sd-daemon.h>

#include <ctime>
#include <vector>

#include "filter/base/printable.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate {
namespace {

std::string utc_time(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[sizeof "2026-11-21 10:15:00 UTC" + 8];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

// What is wrong with the store of a whitelist; empty if nothing is.
std::string store_faults(const LoadedFilter& whitelist) {
  if (whitelist.store() == nullptr) return {};
  const std::string path = printable(whitelist.store()->path());
  std::string text;
  if (whitelist.store_had(Confirmation::damaged)) {
    text +=
        "damaged: " + path + " has a bad page; its senders are sent to the deeper checks until a good pair is loaded; ";
  }
  if (whitelist.store_had(Confirmation::unreadable)) {
    text += "damaged: " + path + " cannot be read everywhere; what is there is sent to the deeper checks; ";
  }
  if (whitelist.store_had(Confirmation::timeout) || whitelist.store_had(Confirmation::busy)) {
    text += "slow: " + path +
            " did not always answer within confirm-timeout; such messages were sent to the deeper "
            "checks; ";
  }
  return text;
}

}  // namespace

std::string message_rate(const LoadedLists& lists, IdentityRule identity) {
  std::vector<double> rates;
  bool is_confirmed = false;
  for (const auto& [name, whitelist, awaits_pair] : lists.parts().whitelists) {
    if (whitelist == nullptr || whitelist->damaged()) continue;
    rates.push_back(whitelist->false_positive_rate());
    is_confirmed = is_confirmed || whitelist->store() != nullptr;
  }
  if (rates.empty()) return {};
  const double of_sender = fpr_of_several(rates);
  const auto text = [is_confirmed](double rate, std::string_view rule) {
    return fmt::format("expected false-positive rate {} per message (identity = {})", rate_text(rate, is_confirmed),
                       rule);
  };
  switch (identity) {
    case IdentityRule::envelope:
      return text(of_sender, "envelope");
    case IdentityRule::header_from:
      return text(of_sender, "header-from");
    case IdentityRule::either:
      return text(either_fpr(of_sender), "either");
    case IdentityRule::both:
      break;
  }
  return text(both_fpr(of_sender), "both");
}

std::string service_status(const LoadedLists& lists, IdentityRule identity) {
  const ListParts& parts = lists.parts();
  const std::size_t count = parts.whitelists.size();
  std::string damaged, serving;
  if (parts.revoked_is_lost) damaged += std::string(kRevokedIsLost) + "; ";
  if (parts.extra_is_lost) damaged += "the list extra cannot be read, so nobody is listed by it; ";
  for (const auto& [name, whitelist, awaits_pair] : parts.whitelists) {
    if (whitelist == nullptr) continue;
    if (const Damage damage = whitelist->damage(); damage != Damage::none) {
      damaged += "damaged: " + printable(whitelist->path()) + " " + std::string(damage_text(damage)) + "; " +
                 (count == 1 ? "all mail is sent to the deeper checks" : "it lists nobody") +
                 " until a good file is loaded";
      damaged += "; ";
    } else {
      damaged += store_faults(*whitelist);
      serving += (serving.empty() ? "serving " : "; ") + whitelist->description() + ", loaded " +
                 utc_time(whitelist->loaded_at());
      if (awaits_pair) serving += ", until the file and the store that replace it belong together";
    }
  }
  std::string status = damaged + serving;
  if (status.empty()) status = "no whitelist is loaded: all mail is sent to the deeper checks";
  if (status.ends_with("; ")) status.resize(status.size() - 2);
  if (const std::string rate = message_rate(lists, identity); !rate.empty()) status += "; " + rate;
  if (parts.revoked) status += "; " + std::to_string(parts.revoked->size()) + " revoked entries";
  if (parts.extra) status += "; " + std::to_string(parts.extra->size()) + " extra entries";
  return status;
}

void notify_ready(const std::string& status) {
  sd_notify(0, ("READY=1\nSTATUS=" + status).c_str());
}

void notify_reloading(std::int64_t began_microseconds) {
  // systemd compares this time to know whether a READY=1 answers this reload (sd_notify(3)).
  const std::string state =
      "RELOADING=1\nMONOTONIC_USEC=" + std::to_string(began_microseconds) + "\nSTATUS=loading the whitelist";
  sd_notify(0, state.c_str());
}

void notify_status(const std::string& status) {
  sd_notify(0, ("STATUS=" + status).c_str());
}

void notify_stopping() {
  sd_notify(0, "STOPPING=1\nSTATUS=stopping");
}

}  // namespace bloomgate
