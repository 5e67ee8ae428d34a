#include <chrono>
#include <string>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "milter/brake/suspensions.hpp"
#include "milter/commands/commands.hpp"
#include "milter/commands/message_decision.hpp"
#include "milter/judge/policy_of_options.hpp"
#include "milter/learning/learner.hpp"
#include "milter/learning/outgoing.hpp"
#include "milter/policy/senders.hpp"

namespace bloomgate {
namespace {

using std::chrono::sys_seconds;

struct Change {
  bool has_changed = false;
  std::string sentence;
};

std::string canonical_user(const DaemonCommand& command) {
  const Entry user = user_of(command.moved.user, policy_of(command.options, command.config_path));
  if (user.kind() == EntryKind::address) return std::string(user.key());
  throw config_error(
      {}, "moved",
      "'" + printable(command.moved.user) + "' is no address: name the user as the senders do, ann@example.org");
}

Change suspend(const DaemonOptions& options, const std::string& sender, const std::string& user, sys_seconds now) {
  if (!options.suspend) return {false, "suspend = no, so " + sender + " is not suspended for " + user};
  std::string until;
  bool is_new = false;
  edit_suspensions(options.suspend_file, now, [&](Suspensions& all) {
    is_new = suspend_for_user(all, sender, user, now);
    const Suspension* const found = find_suspension(all, pair_of(sender, user));
    if (found == nullptr || !found->until) return;
    until = " until " + format_time(std::chrono::system_clock::to_time_t(*found->until));
  });
  if (until.empty()) until = " until it is cleared";
  return {is_new, sender + (is_new ? " is suspended for " : " was suspended already for ") + user + until};
}

bool clear(const DaemonOptions& options, const std::string& sender, const std::string& user, sys_seconds now) {
  bool was_suspended = false;
  if (!options.suspend) return false;
  edit_suspensions(options.suspend_file, now, [&](Suspensions& all) {
    const std::string entry = pair_of(sender, user);
    was_suspended = std::erase_if(all, [&](const Suspension& each) { return each.entry == entry; }) != 0;
  });
  return was_suspended;
}

// Of a message that nothing but what was learned would deliver.
Change learn(const DaemonOptions& options, const MessageDecision& message, const std::string& user) {
  const Senders senders(message.facts, message.policy);
  const bool is_from = message.decision.identity != IdentityKind::envelope;
  const std::string sender((is_from ? senders.from() : senders.identity()).key());
  const LearnRules rules = learn_rules(options);
  if (!rules.is_on()) return {false, "learn = no, so " + sender + " is not listed for " + user};
  LearnedFile file(rules.path, LearnedFile::Access::write);
  const LearnedDay today = utc_day();
  const std::optional<LearnedDay> known = file.find(user, sender);
  const bool is_new = !known || *known < rules.first_kept_day(today);
  if (is_new && file.added_on(user, today) >= rules.per_hour) {
    return {false,
            user + " has as many new correspondents today as learn-rate allows, so " + sender + " is not listed"};
  }
  const LearnedFile::Contact contact = {.user = user, .correspondent = sender};
  if (file.record({&contact, 1}, today).no_room != 0) {
    return {false, "the database has its most pairs, so " + sender + " is not listed for " + user};
  }
  return {is_new, sender + (is_new ? " is listed for " : " was listed already for ") + user};
}

Change change_of(const DaemonCommand& command, const MessageDecision& message, const std::string& user) {
  const std::string sender(message.sender.address.view().empty() ? message.sender.key.view()
                                                                 : message.sender.address.view());
  if (sender.empty() || !message.decision.method) {
    return {false, "the message does not prove its sender (" + std::string(reason_name(message.decision.reason)) +
                       "), so nothing was changed"};
  }
  const sys_seconds now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (command.moved.where == MovedCommand::Where::junk) return suspend(command.options, sender, user, now);
  const bool was_suspended = clear(command.options, sender, user, now);
  Change change = message.decision.reason == Reason::learned ? learn(command.options, message, user)
                                                             : Change{false, sender + " was listed already"};
  if (was_suspended) change.sentence += ", and is no longer suspended";
  change.has_changed = change.has_changed || was_suspended;
  return change;
}

}  // namespace

void moved(const DaemonCommand& command, std::istream& message, std::ostream& out) {
  const std::string user = canonical_user(command);
  DaemonCommand asked = command;
  asked.explain = {};
  asked.explain.to = {user};
  MessageDecision decided;
  decide_message(decided, asked, &message, WhoIsLearned::everybody);
  const Change change = change_of(command, decided, user);
  if (!command.moved.json) {
    out << printable(change.sentence) << '\n';
    return;
  }
  const Json shown = {{"command", kMovedCommand},
                      {"to", kWordsOf<MovedCommand::Where>[static_cast<std::size_t>(command.moved.where)]},
                      {"user", user},
                      {"sender", std::string(decided.sender.key.view())},
                      {"reason", reason_name(decided.decision.reason)},
                      {"changed", change.has_changed},
                      {"outcome", change.sentence}};
  out << shown.dump(2) << '\n';
}

}  // namespace bloomgate
