#include "milter/monitoring/service_status.hpp"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "config/enum_words.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/layout/sizing.hpp"
#include "milter/health/file_facts.hpp"

namespace bloomgate {
namespace {

bool serves(const NamedFilter& named) {
  return named.filter && !named.filter->damaged();
}

std::string_view pairs_of(const ExactList& list) {
  return list.holds_pairs() ? ", with pairs" : "";
}

}  // namespace

std::optional<std::chrono::system_clock::time_point> written_at(const LoadedFilter& whitelist) noexcept {
  struct stat status = {};
  if (fstat(whitelist.file().descriptor(), &status) != 0) return std::nullopt;
  return std::chrono::system_clock::from_time_t(status.st_mtim.tv_sec);
}

std::optional<double> false_positive_rate_of_message(const LoadedLists& lists, IdentityRule identity) {
  std::vector<double> rates;
  for (const NamedFilter& each : lists.parts().whitelists) {
    if (!serves(each)) continue;
    const double rate = each.filter->false_positive_rate();
    rates.push_back(rate);
    // A non-member chooses the recipient, and so writes to one recipient: with several, each would need a false
    // positive.
    if (each.filter->header().kinds.pairs_in_bits != 0) rates.push_back(rate);
  }
  if (rates.empty()) return std::nullopt;
  const double of_sender = fpr_of_several(rates);
  return identity == IdentityRule::either ? either_fpr(of_sender) : of_sender;
}

std::string message_rate(const LoadedLists& lists, IdentityRule identity) {
  const std::optional<double> rate = false_positive_rate_of_message(lists, identity);
  if (!rate) return {};
  const bool is_confirmed = std::ranges::any_of(lists.parts().whitelists, [](const NamedFilter& each) {
    return serves(each) && each.filter->store() != nullptr;
  });
  const bool has_pairs = std::ranges::any_of(lists.parts().whitelists, [](const NamedFilter& each) {
    return serves(each) && each.filter->header().kinds.pairs_in_bits != 0;
  });
  const bool know_domains = std::ranges::all_of(lists.parts().whitelists, [](const NamedFilter& each) {
    return !serves(each) || each.filter->header().knows_sender_domains();
  });
  return fmt::format("expected false-positive rate {} per message (identity = {}{}){}", rate_text(*rate, is_confirmed),
                     word_of(identity), has_pairs ? ", alone and with one recipient" : "",
                     know_domains ? ", and none at domains without a listed address" : "");
}

std::vector<std::string> list_faults(const LoadedLists& lists) {
  const ListParts& parts = lists.parts();
  std::vector<std::string> faults;
  if (parts.revoked.is_lost) faults.emplace_back(kRevokedIsLost);
  if (parts.opt_out.is_lost) faults.emplace_back(kOptOutIsLost);
  if (parts.extra.is_lost) faults.emplace_back("the list extra cannot be read, so it lists no sender");
  const auto add_left_out = [&](std::string_view list, std::uint64_t lines, std::string_view means) {
    if (lines == 0) return;
    faults.push_back(fmt::format("the list {} has invalid lines ({}), so {}: bloomgate-milter doctor names the first",
                                 list, lines, means));
  };
  add_left_out("revoked", parts.revoked.left_out, "it does not revoke their senders");
  add_left_out("opt-out", parts.opt_out.left_out, "mail to their recipients may be delivered");
  add_left_out("extra", parts.extra.left_out, "it does not list their senders");
  for (const NamedFilter& each : parts.whitelists) {
    if (each.filter == nullptr) continue;
    const Damage damage = each.filter->damage();
    if (damage == Damage::none) {
      std::ranges::move(store_faults(*each.filter), std::back_inserter(faults));
      continue;
    }
    const bool is_only_one = parts.whitelists.size() == 1;
    faults.push_back(fmt::format("damaged: {} {}; {} until a good file is loaded", printable(each.filter->path()),
                                 damage_text(damage),
                                 is_only_one ? "all mail is sent to the deeper checks" : "it lists no sender"));
  }
  return faults;
}

std::string service_status(const LoadedLists& lists, IdentityRule identity) {
  const ListParts& parts = lists.parts();
  std::string serving;
  for (const NamedFilter& each : parts.whitelists) {
    const LoadedFilter* const whitelist = each.filter.get();
    if (whitelist == nullptr || whitelist->damage() != Damage::none) continue;
    serving += (serving.empty() ? "serving " : "; ") + whitelist->description() + ", loaded " +
               format_time(std::chrono::system_clock::to_time_t(whitelist->loaded_at()));
    if (each.awaits_pair) serving += ", until the file and the store that replace it belong together";
  }
  std::vector<std::string> parts_of_status = list_faults(lists);
  if (!serving.empty()) parts_of_status.push_back(std::move(serving));
  std::string status = fmt::format("{}", fmt::join(parts_of_status, "; "));
  if (status.empty()) status = kNoWhitelist;
  if (const std::string rate = message_rate(lists, identity); !rate.empty()) status += "; " + rate;
  for (const NamedExactList& each : kExactLists) {
    const auto& list = (parts.*each.part).list;
    if (list)
      status += fmt::format("; {} {} {}{}", list->size(), each.name, word_for(list->size(), "entry", "entries"),
                            pairs_of(*list));
  }
  return status;
}

void notify_ready(const std::string& status) {
  sd_notify(0, ("READY=1\nSTATUS=" + status).c_str());
}

void notify_reloading(std::int64_t began_microseconds) {
  // systemd compares this time to find out whether a READY=1 answers this reload (sd_notify(3)).
  const std::string state =
      "RELOADING=1\nMONOTONIC_USEC=" + std::to_string(began_microseconds) + "\nSTATUS=loading the whitelist";
  sd_notify(0, state.c_str());
}

void notify_status(const std::string& status) {
  sd_notify(0, ("STATUS=" + status).c_str());
}

void notify_alive() noexcept {
  if (sd_watchdog_enabled(0, nullptr) > 0) sd_notify(0, "WATCHDOG=1");
}

void notify_stopping() {
  sd_notify(0, "STOPPING=1\nSTATUS=stopping");
}

}  // namespace bloomgate
