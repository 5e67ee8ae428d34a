#include "filter/cli/commands/harvest_report.hpp"

#include <iostream>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/cli/commands/report_text.hpp"

namespace bloomgate::cli {
namespace {

struct LeftOutText {
  std::string_view name;  // in JSON
  std::string_view one;   // after the number 1
  std::string_view many;  // after any other number
};
constexpr std::array<LeftOutText, kLeftOutKinds> kLeftOutTexts = {{
    {"null_sender", "bounce", "bounces"},
    {"automatic", "automatic or mailing-list message", "automatic or mailing-list messages"},
    {"received", "message that came in: it may be of anybody", "messages that came in: they may be of anybody"},
    {"many_recipients", "message to too many recipients", "messages to too many recipients"},
    {"foreign_sender", "message of a sender in another domain", "messages of senders in other domains"},
    {"no_login", "message of a client that had not logged in", "messages of clients that had not logged in"},
    {"other_sender", "message of a sender whose address is not the login's",
     "messages of senders whose address is not the login's"},
    {"unreadable", "message or contact without a readable address", "messages or contacts without a readable address"},
    {"own_domain", "recipient in your own domains", "recipients in your own domains"},
    {"program", "address that no person reads", "addresses that no person reads"},
    {"not_delivered", "recipient who was not reached", "recipients who were not reached"},
    {"open", "message for lack of room: too many were open at once",
     "messages for lack of room: too many were open at once"},
    {"over_limit", "contact of a user who has more than --most-contacts",
     "contacts of users who have more than --most-contacts"},
    {"forgotten", "contact or user who was forgotten after that", "contacts and users who were forgotten after that"},
}};

// The first names of many.
std::string first_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t at = 0; at < names.size() && at < kMostNamed; ++at) {
    text.append(at == 0 ? "" : ", ").append(printable(names[at]));
  }
  return names.size() > kMostNamed ? text + ", ..." : text;
}

Json names_of(const std::vector<std::string>& names) {
  Json json = Json::array();
  for (const std::string& name : names) json.push_back(name);
  return json;
}

}  // namespace

void print_harvest(const HarvestReport& report) {
  std::cout << "harvested " << report.list << "\nentries   " << format_count(report.written.entries) << "\nmessages  "
            << format_count(report.counts.messages) << " of your users, "
            << format_counted(report.counts.contacts, "recipient", "recipients") << '\n';
  if (report.counts.messages == 0) {
    std::cout << "hint      a message counts if a logged-in user sent it from an address of --own-domain; for mail "
                 "without logins, "
                 "see --without-login\n";
  }
  if (report.wants_lists) {
    std::cout << "lists     " << format_counted(report.written.mailing_lists, "mailing list", "mailing lists")
              << ", of " << format_counted(report.counts.named_messages, "sent message", "sent messages")
              << " with a Message-ID and "
              << format_counted(report.counts.list_messages, "received one that names its list",
                                "received ones that name their list")
              << '\n';
  }
  for (std::size_t kind = 0; kind < kLeftOutKinds; ++kind) {
    if (const std::uint64_t times = report.counts.left_out[kind]) {
      std::cout << "left out  " << format_counted(times, kLeftOutTexts[kind].one, kLeftOutTexts[kind].many) << '\n';
    }
  }
  if (!report.users_over_limit.empty()) {
    std::cout << "too many  contacts of " << format_counted(report.users_over_limit.size(), "user", "users") << ": "
              << first_of(report.users_over_limit) << '\n';
  }
  if (report.counts.log_messages != 0 && report.counts.automatic_marks == 0) {
    std::cout << "not seen  automatic messages of the logs: no line marks them; the header check that setup-postfix "
                 "adds does\n";
  }
  if (const std::size_t owners = report.sources.owners(); owners != 0) {
    const std::vector<std::string>& unknown = report.sources.without_address();
    std::cout << "owners    " << format_count(owners) << " of mailboxes";
    if (!unknown.empty()) {
      std::cout << "; no address is known of " << format_count(unknown.size()) << ": " << first_of(unknown);
    }
    std::cout << '\n';
  }
  if (const std::uint64_t lines = report.addresses.skipped_lines(); lines != 0) {
    std::cout << "skipped   " << format_counted(lines, "line", "lines") << " of --owner-addresses\n";
  }
  const auto print_skipped = [](std::uint64_t files, const char* one, const char* several) {
    if (files != 0) std::cout << "skipped   " << format_counted(files, one, several) << '\n';
  };
  print_skipped(report.skipped.no_sources, "file that is not of a kind that this command reads there",
                "files that are not of a kind that this command reads there");
  print_skipped(report.skipped.vanished, "file that was moved or deleted meanwhile",
                "files that were moved or deleted meanwhile");
  print_skipped(report.skipped.unreadable, "file that cannot be read to its end",
                "files that cannot be read to their end");
  if (report.spilled_bytes != 0) {
    std::cout << "spilled   " << format_bytes(report.spilled_bytes) << " to disk, for lack of memory\n";
  }
  std::cout << "time      " << format_decimal(report.seconds, 2) << " s, " << format_short_bytes(report.read_bytes)
            << " read\n";
}

void print_harvest_json(const HarvestReport& report) {
  Json left_out = Json::object();
  for (std::size_t kind = 0; kind < kLeftOutKinds; ++kind) {
    left_out[std::string(kLeftOutTexts[kind].name)] = report.counts.left_out[kind];
  }
  const Json json = {
      {"list", report.list},
      {"entries", report.written.entries},
      {"mailing_lists", report.written.mailing_lists},
      {"messages", report.counts.messages},
      {"recipients", report.counts.contacts},
      {"named_messages", report.counts.named_messages},
      {"list_messages", report.counts.list_messages},
      {"log_messages", report.counts.log_messages},
      {"automatic_marks", report.counts.automatic_marks},
      {"left_out", left_out},
      {"users_over_limit", names_of(report.users_over_limit)},
      {"owners", report.sources.owners()},
      {"owners_without_address", names_of(report.sources.without_address())},
      {"skipped_owner_lines", report.addresses.skipped_lines()},
      {"empty_folders", report.sources.empty_folders()},
      {"skipped_files", report.skipped.no_sources},
      {"vanished_files", report.skipped.vanished},
      {"unreadable_files", report.skipped.unreadable},
      {"read_bytes", report.read_bytes},
      {"spilled_bytes", report.spilled_bytes},
      {"seconds", report.seconds},
  };
  print_report(json);
}

}  // namespace bloomgate::cli
