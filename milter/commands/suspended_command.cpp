#include <sysexits.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "filter/address/tag_separators.hpp"
#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "milter/brake/suspensions.hpp"
#include "milter/commands/commands.hpp"
#include "milter/judge/policy_of_options.hpp"
#include "milter/learning/outgoing.hpp"
#include "milter/lists/list_file_edit.hpp"

namespace bloomgate {
namespace {

using std::chrono::sys_seconds;
using Action = SuspendedCommand::Action;

std::string time_text(sys_seconds time) {
  return format_time(std::chrono::system_clock::to_time_t(time));
}

std::string until_text(const Suspension& each) {
  return each.until ? "until " + time_text(*each.until) : "until it is cleared";
}

Json json_of(const Suspension& each) {
  Json times = Json::array();
  for (const sys_seconds time : each.times) times.push_back(time_text(time));
  return {{"entry", each.entry},
          {"user", each.user.empty() ? Json() : Json(each.user)},
          {"until", each.until ? Json(time_text(*each.until)) : Json()},
          {"times", times}};
}

int show(const std::string& path, bool as_json, sys_seconds now, std::ostream& out) {
  Suspensions all = read_suspensions(path);
  std::erase_if(all, [now](const Suspension& each) { return !each.holds(now); });
  if (as_json) {
    Json entries = Json::array();
    for (const Suspension& each : all) entries.push_back(json_of(each));
    const Json shown = {{"command", kSuspendedCommand}, {"file", path}, {"suspended", entries}};
    out << shown.dump(2) << '\n';
    return EX_OK;
  }
  for (const Suspension& each : all) {
    out << printable(shown_name(each.entry, each.user)) << ": " << until_text(each);
    if (each.times.size() > 1) out << ", " << each.times.size() << " times within a week";
    out << '\n';
  }
  out << printable(path) << ": " << format_counted(all.size(), "sender is", "senders are") << " suspended\n";
  return EX_OK;
}

std::string without_tag(std::string_view key) {
  const Entry untagged = canonicalize_path(key, {.tag_separators = kUsualTagSeparators});
  return std::string(untagged.kind() == EntryKind::address ? untagged.key() : key);
}

// Who is suspended, and for whom; for all where there is no user.
struct Name {
  std::string entry;
  std::string user = {};
  std::string shown() const { return shown_name(entry, user); }
};

// As the daemon counts and suspends.
Name name_of(const Entry& entry, const Policy& policy) {
  if (entry.kind() == EntryKind::with_signer) {
    throw BloomgateError(ErrorCode::bad_input, "suspended: '" + printable(entry.key()) +
                                                   "' is an entry with a signer; name its sender alone");
  }
  if (!entry.is_pair()) return {without_tag(entry.key())};
  const PairSides sides = sides_of_pair(entry.key());
  if (canonicalize_path(sides.recipient).kind() != EntryKind::address) {
    throw BloomgateError(ErrorCode::bad_input,
                         "suspended: '" + printable(entry_text(entry.key())) + "': name one recipient, by its address");
  }
  return {without_tag(sides.sender), std::string(user_of(sides.recipient, policy).key())};
}

bool clear(Suspensions& all, const Name& name) {
  return std::erase_if(all, [&](const Suspension& each) { return each.is_of(name.entry, name.user); }) != 0;
}

// A person who suspends a sender decides until when, too.
bool add(Suspensions& all, const Name& name, sys_seconds now) {
  const Suspension* const found = find_suspension(all, name.entry, name.user);
  if (found != nullptr && !found->until) return false;
  clear(all, name);
  all.push_back({.entry = name.entry, .until = {}, .times = {now}, .user = name.user});
  return true;
}

// Of a sender who is not suspended for all, or no longer: the first user for whom he is.
std::string single_user_of(const Suspensions& all, const Name& name, sys_seconds now) {
  const auto found =
      std::ranges::find_if(all, [&](const Suspension& each) { return each.holds(now) && each.entry == name.entry; });
  return name.user.empty() && found != all.end() ? found->user : "";
}

std::string sentence(const Name& name, Action action, bool has_changed, const std::string& user) {
  if (action == Action::add) {
    return name.shown() +
           (has_changed ? ": is suspended now, until it is cleared" : ": was suspended until it is cleared already");
  }
  if (has_changed) return name.shown() + ": is no longer suspended";
  if (user.empty()) return name.shown() + ": was not suspended";
  return name.entry + ": is suspended for " + user + " alone; name both: suspended clear '" +
         shown_name(name.entry, user) + "'";
}

}  // namespace

int suspended(const DaemonCommand& command, std::ostream& out) {
  const SuspendedCommand& asked = command.suspended;
  const std::string& path = command.options.suspend_file;
  const sys_seconds now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (asked.action == Action::list) return show(path, asked.json, now, out);
  std::vector<Name> names;
  const Policy policy = policy_of(command.options, command.config_path);
  for (const Entry& entry : entries_of_words(asked.entries)) names.push_back(name_of(entry, policy));
  std::vector<bool> have_changed;
  std::vector<std::string> users;
  edit_suspensions(path, now, [&](Suspensions& all) {
    for (const Name& name : names) {
      have_changed.push_back(asked.action == Action::add ? add(all, name, now) : clear(all, name));
      users.push_back(single_user_of(all, name, now));
    }
  });
  if (asked.json) {
    Json all = Json::array();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Json user = names[i].user.empty() ? Json() : Json(names[i].user);
      all.push_back({{"entry", names[i].entry}, {"user", user}, {"changed", static_cast<bool>(have_changed[i])}});
    }
    const Json shown = {{"command", kSuspendedCommand}, {"file", path}, {"entries", all}};
    out << shown.dump(2) << '\n';
  } else {
    if (!command.options.suspend) out << "warning: suspend = no, so the daemon ignores all suspensions\n";
    for (std::size_t i = 0; i < names.size(); ++i) {
      out << printable(sentence(names[i], asked.action, have_changed[i], users[i])) << '\n';
    }
  }
  const bool all_changed = std::ranges::all_of(have_changed, [](bool each) { return each; });
  return asked.action == Action::clear && !all_changed ? 1 : EX_OK;
}

}  // namespace bloomgate
