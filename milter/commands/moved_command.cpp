#include <algorithm>
#include <chrono>
#include <istream>
#include <limits>
#include <string>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
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

sys_seconds this_second() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

std::string canonical_user(const DaemonCommand& command) {
  const Policy policy = policy_of(command.options, command.config_path);
  const Entry user = user_of(command.moved.user, policy);
  const std::string shown = "moved: '" + printable(command.moved.user) + "' is no address";
  if (user.kind() != EntryKind::address) {
    throw config_error({}, "", shown + ": name the user as the senders do, ann@example.org");
  }
  if (policy.own_domains.size() == 0 || policy.own_domains.find(user).is_listed()) return std::string(user.key());
  throw config_error({}, "", shown + " in own-domains");
}

// The sender that the lists deliver the message by, as suspensions name it.
std::string suspended_name(const CountedSender& sender) {
  return std::string(sender.address.view().empty() ? sender.key.view() : sender.address.view());
}

Change suspend(const DaemonOptions& options, const CountedSender& counted, const std::string& user) {
  const std::string sender = suspended_name(counted);
  if (!options.suspend) return {false, "suspend = no, so " + sender + " is not suspended for " + user};
  SuspendedForUser became = SuspendedForUser::no_room;
  std::string until = " until it is cleared";
  edit_suspensions(options.suspend_file, this_second(), [&](Suspensions& all) {
    became = suspend_for_user(all, sender, user, this_second());
    const Suspension* const found = find_suspension(all, sender, user);
    if (found == nullptr || !found->until) return;
    until = " until " + format_time(std::chrono::system_clock::to_time_t(*found->until));
  });
  if (became == SuspendedForUser::no_room) {
    return {false, "all users together have as many senders suspended as there is room for, so " + sender + " is not"};
  }
  const bool is_new = became == SuspendedForUser::now;
  return {is_new, sender + (is_new ? " is suspended for " : " was suspended already for ") + user + until};
}

// Of a listed sender: ends what the user has suspended, and says what else holds up the sender.
Change clear(const DaemonOptions& options, const CountedSender& counted, const std::string& user) {
  const std::string sender = suspended_name(counted);
  const std::string sentence = sender + " was listed already";
  if (!options.suspend) return {false, sentence};
  bool was_suspended = false;
  edit_suspensions(options.suspend_file, this_second(), [&](Suspensions& all) {
    was_suspended = std::erase_if(all, [&](const Suspension& each) { return each.is_of(sender, user); }) != 0;
  });
  const Suspensions left = suspensions_of(options);
  const auto other = std::ranges::find_if(left, [&](const Suspension& each) {
    const auto covers_it = [&each](std::string_view name) { return covers(each, name); };
    return each.holds(this_second()) && (each.user.empty() || each.user == user) &&
           std::ranges::any_of(counted.names(), covers_it);
  });
  if (other != left.end()) {
    return {was_suspended, sentence + ", and is still suspended: '" + shown_name(other->entry, other->user) + "'"};
  }
  return {was_suspended, sentence + (was_suspended ? ", and is no longer suspended" : "")};
}

// Of a message that would be delivered if the user had written to its From mailbox.
Change learn(const DaemonOptions& options, const MessageDecision& message, const std::string& user) {
  const Entry sender = Senders(message.facts, message.rules.policy).from();
  const std::string name(sender.key());
  if (message.rules.policy.own_domains.find(sender).is_listed()) {
    return {false, name + " is in a domain of ours, and is not listed for a user"};
  }
  const LearnRules rules = learn_rules(options);
  if (!rules.is_on()) return {false, "learn = none, so " + name + " is not listed for " + user};
  LearnedFile file(rules.path, LearnedFile::Access::write);
  const LearnedFile::Contact contact = {.user = user, .correspondent = name, .most_a_day = rules.per_hour};
  const LearnedFile::Recorded recorded = file.record({&contact, 1}, utc_day());
  if (recorded.over_rate != 0) {
    return {false, user + " has as many new correspondents today as learn-rate allows, so " + name + " is not listed"};
  }
  if (recorded.no_room != 0) {
    return {false, "the database has its most pairs, so " + name + " is not listed for " + user};
  }
  return {true, name + " is listed for " + user};
}

// A message that the lists deliver is about the sender that they have; any other one about its From mailbox, which is
// whom the user has seen.
Change change_of(const DaemonCommand& command, MessageDecision& message, const std::string& user) {
  const bool is_junk = command.moved.where == MovedCommand::Where::junk;
  const Decision if_learned = message.decision;
  const CountedSender sender_if_learned = message.sender;
  decide_again(message, command, {.none_is_suspended = true});
  if (message.decision.verdict == Verdict::deliver && message.decision.method) {
    return (is_junk ? suspend : clear)(command.options, message.sender, user);
  }
  if (if_learned.verdict != Verdict::deliver || !if_learned.method) {
    return {false, "nothing was changed: the message would be checked if its sender were listed for " + user +
                       ", too (" + std::string(reason_name(if_learned.reason)) + ")"};
  }
  message.sender = sender_if_learned;
  if (is_junk) return {false, suspended_name(message.sender) + " is not listed for " + user + ": nothing was changed"};
  return learn(command.options, message, user);
}

}  // namespace

void moved(const DaemonCommand& command, std::istream& message, std::ostream& out) {
  const std::string user = canonical_user(command);
  DaemonCommand asked = command;
  asked.explain = {};
  asked.explain.to = {user};
  MessageDecision decided;
  decide_message(decided, asked, &message, {.from_is_learned = true, .none_is_suspended = true});
  const Change change = change_of(asked, decided, user);
  // To a mail store that cannot send all of a message the command has failed.
  message.ignore(std::numeric_limits<std::streamsize>::max());
  if (!command.moved.json) {
    out << printable(change.sentence) << '\n';
    return;
  }
  const Json shown = {{"command", kMovedCommand},
                      {"to", kWordsOf<MovedCommand::Where>[static_cast<std::size_t>(command.moved.where)]},
                      {"user", user},
                      {"sender", suspended_name(decided.sender)},
                      {"changed", change.has_changed},
                      {"outcome", change.sentence}};
  out << shown.dump(2) << '\n';
}

}  // namespace bloomgate
