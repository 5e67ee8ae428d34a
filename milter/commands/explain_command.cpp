#include <spdlog/fmt/fmt.h>

#include <string>

#include "filter/base/shell_word.hpp"
#include "milter/commands/commands.hpp"
#include "milter/commands/conditional_entries.hpp"
#include "milter/commands/message_decision.hpp"
#include "milter/judge/policy_of_options.hpp"
#include "milter/policy/explain.hpp"
#include "milter/why/why_sentence.hpp"

namespace bloomgate {
namespace {

// `how_to_name_recipients` is for an operator who has named none; empty: he has.
std::string sentence(const MessageDecision& message, const DaemonOptions& options,
                     const std::string& how_to_name_recipients) {
  KnownDecision known = known_of_decision(message.decision, message.facts, message.trace);
  add_conditional_entries(known, options, *message.lists);
  known.rule = message.rules.policy.identity;
  known.how_to_name_recipients = how_to_name_recipients;
  std::string text = why_sentence(known);
  if (message.is_from_assumed) {
    text += " (This takes From to be the envelope sender: give --header-from, or the message on standard input.)";
  }
  return text;
}

}  // namespace

void explain(const DaemonCommand& command, std::istream* message, std::ostream& out) {
  MessageDecision decided;
  decide_message(decided, command, message);
  const std::string why = sentence(decided, command.options,
                                   command.explain.to.empty() ? "Give --to, once for each recipient." : std::string());
  out << (command.explain.json ? explanation_json : explanation_text)(decided.trace, decided.decision, decided.mta_name,
                                                                      check_mark(command.options), why);
}

std::string explained_sentence(const DaemonCommand& command, const std::string& address) {
  DaemonCommand asked = command;
  asked.explain = {};
  asked.explain.from = '<' + address + '>';
  asked.explain.header_from = {address};
  MessageDecision decided;
  decide_message(decided, asked, nullptr);
  return sentence(
      decided, command.options,
      "With a recipient: bloomgate-milter explain --from " + shell_word(address, "ADDRESS") + " --to RECIPIENT.");
}

}  // namespace bloomgate
