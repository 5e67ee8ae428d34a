#include <spdlog/fmt/fmt.h>

#include <string>

#include "config/option_table.hpp"
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
  MessageDecision without_recipient;
  decide_message(without_recipient, asked, nullptr);
  if (without_recipient.decision.reason != Reason::recipients_unknown) {
    return sentence(without_recipient, command.options, {});
  }
  // A domain that cannot be (RFC 2606 section 2), so no list has an entry for it.
  asked.explain.to = {"recipient@recipient.invalid"};
  MessageDecision decided;
  decide_message(decided, asked, nullptr);
  const bool is_usual = command.config_path == option_spec("config").default_value;
  return sentence(decided, command.options, {}) +
         " This holds for a recipient without entries of its own. For one recipient: bloomgate-milter explain " +
         (is_usual ? "" : "--config " + shell_word(command.config_path, "FILE") + ' ') + "--from " +
         shell_word(address, "ADDRESS") + " --to RECIPIENT.";
}

}  // namespace bloomgate
