#include "milter/commands/message_decision.hpp"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/mail/mail_header.hpp"
#include "milter/brake/counted_sender.hpp"
#include "milter/daemon/daemon.hpp"
#include "milter/dkim/library_verifier.hpp"
#include "milter/fields/field_name.hpp"
#include "milter/judge/policy_of_options.hpp"
#include "milter/learning/learner.hpp"
#include "milter/learning/logger.hpp"
#include "milter/learning/outgoing.hpp"
#include "milter/lists/published_lists.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "milter/names/resolver.hpp"
#include "milter/policy/decide.hpp"
#include "milter/policy/senders.hpp"

namespace bloomgate {
namespace {

bool has_fields(const ExplainOptions& given) {
  return !given.header_from.empty() || !given.authentication_results.empty();
}

// The header fields of the message, from the options or from the message itself, and the first bytes of its body.
std::vector<HeaderField> fields_of(const ExplainOptions& given, std::istream* message, std::string& body) {
  if (!has_fields(given)) return message == nullptr ? std::vector<HeaderField>() : read_message_header(*message, &body);
  std::vector<HeaderField> fields;
  for (const std::string& value : given.header_from) fields.push_back({"From", " " + value});
  for (const std::string& value : given.authentication_results) {
    fields.push_back({"Authentication-Results", " " + value});
  }
  return fields;
}

std::string envelope_sender(const DaemonCommand& command, const std::vector<HeaderField>& fields) {
  if (command.explain.from) return *command.explain.from;
  const auto path =
      std::ranges::find_if(fields, [](const auto& field) { return is_header(field.name, "Return-Path"); });
  if (path != fields.end()) return std::string(ascii::trimmed_front(path->value, " \t"));
  if (command.action == DaemonCommand::Action::moved) {
    throw config_error({}, "", "moved: the message has no Return-Path field, so its envelope sender is not known");
  }
  throw config_error({}, "explain",
                     "the envelope sender is not known: give --from, or a message with a Return-Path field");
}

void record(MessageRecorder& message, const DaemonCommand& command, const std::vector<HeaderField>& fields) {
  const ExplainOptions& given = command.explain;
  message.begin_connection(given.client);
  message.begin_message(envelope_sender(command, fields),
                        {.login = given.auth_login ? std::string_view(*given.auth_login) : "",
                         .daemon_name = given.daemon_name ? std::string_view(*given.daemon_name) : ""});
  for (const std::string& recipient : given.to) message.add_recipient(recipient);
  for (const HeaderField& field : fields) message.add_header(field.name, field.value);
}

// What the mail server's macro j would be.
std::string mta_name(const DaemonCommand& command) {
  if (command.explain.mta_name) return *command.explain.mta_name;
  return command.options.host_name.empty() ? machine_name() : command.options.host_name;
}

// As one word: the names have no comma in them.
std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ","));
}

// Of fields without their message: nothing can show the grounds of what they say.
Authentication believed(const ExplainOptions& given, const std::vector<std::string>& ids, std::size_t trusted_fields) {
  std::vector<std::string_view> values(given.authentication_results.begin(), given.authentication_results.end());
  if (trusted_fields != 0) values.resize(std::min(trusted_fields, values.size()));
  return Authentication::summarize(values, ids);
}

// The body is what was read of it, and the rest of the stream.
Signatures verified(const DaemonOptions& options, MessageRecorder& recorder, const SignatureNeed& need,
                    const std::string& start_of_body, std::istream& rest_of_body) {
  const auto header = recorder.header();
  if (!header) return {.all = {}, .fault = SignatureOutcome::header_too_large};
  Resolver resolver(resolver_options(options));
  LibraryVerifier verifier(verify_rules(options), resolver);
  const std::unique_ptr<Verification> verification = verifier.begin({.header = *header, .need = need});
  char last = '\0';
  verification->add_body(with_crlf(start_of_body, last));
  std::string bytes(std::size_t{1} << 16, '\0');
  while (!verification->is_over() && rest_of_body) {
    rest_of_body.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto size = static_cast<std::size_t>(rest_of_body.gcount());
    verification->add_body(with_crlf(std::string_view(bytes).substr(0, size), last));
  }
  return verification->finish();
}

// What the daemon has learned, in its database, and what other hosts share.
class LearnedInFiles : public LearnedSenders {
 public:
  // A database that the daemon has not made yet has nothing in it.
  explicit LearnedInFiles(const LearnRules& rules)
      : elsewhere_(std::make_shared<spdlog::logger>("explain"), LearnedElsewhere::Taken::is_not_remembered),
        first_kept_(rules.first_kept_day(utc_day())) {
    if (rules.is_on() && access(rules.path.c_str(), F_OK) == 0) file_.emplace(rules.path, LearnedFile::Access::read);
    elsewhere_.look_once(rules.elsewhere);
    if (file_ && rules.hears()) elsewhere_.set_own_forgets(*file_, file_->forgets());
  }

  bool is_learned(std::string_view user, std::string_view sender) const noexcept override {
    return is_kept([&] { return file_ ? file_->find(user, sender) : std::nullopt; }) ||
           is_kept([&] { return day_of(elsewhere_.find(user, sender)); });
  }

  // Reads all of the file: a message is explained once.
  bool has_sender_domain(std::string_view domain) const noexcept override {
    return is_kept([&] { return file_ ? file_->last_use_of_domain(domain) : std::nullopt; }) ||
           is_kept([&] { return day_of(elsewhere_.find_domain(domain)); });
  }

  // What went wrong in a look-up; empty: nothing.
  const std::string& fault() const noexcept { return fault_; }

 private:
  static std::optional<LearnedDay> day_of(std::optional<LearnedElsewhere::Day> day) noexcept {
    return day ? std::optional(LearnedDay(std::chrono::days(*day))) : std::nullopt;
  }

  template <typename Find>
  bool is_kept(Find find) const noexcept {
    try {
      const std::optional<LearnedDay> last_use = find();
      return last_use && *last_use >= first_kept_;
    } catch (const std::exception& error) {
      fault_ = error.what();
      return false;
    }
  }

  mutable std::optional<LearnedFile> file_;
  LearnedElsewhere elsewhere_;
  LearnedDay first_kept_;
  mutable std::string fault_;
};

// What was learned, and that the recipients have written to one more sender.
class AlsoLearned : public LearnedSenders {
 public:
  AlsoLearned(const LearnedSenders* learned, const Entry& sender) : learned_(learned), sender_(sender) {}

  bool is_learned(std::string_view user, std::string_view sender) const noexcept override {
    return sender == sender_.key() || (learned_ != nullptr && learned_->is_learned(user, sender));
  }
  bool has_sender_domain(std::string_view domain) const noexcept override {
    return domain == sender_.domain() || (learned_ != nullptr && learned_->has_sender_domain(domain));
  }

 private:
  const LearnedSenders* const learned_;
  const Entry sender_;
};

// Null if nothing is learned.
std::unique_ptr<LearnedInFiles> learned_of(const DaemonOptions& options) {
  const LearnRules rules = learn_rules(options);
  if (!rules.is_on() && !rules.hears()) return nullptr;
  return std::make_unique<LearnedInFiles>(rules);
}

// Whether the sender of a message that the lists deliver is suspended.
bool is_held(const Suspensions& suspended, const Facts& facts, const Decision& decision, const Lists& lists,
             const Policy& policy) {
  if (decision.verdict != Verdict::deliver || is_exempt(decision.reason)) return false;
  const CountedSender sender = counted_sender(facts, decision, lists, policy);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const bool are_too_many = facts.recipients.state == Recipients::State::too_many;
  const CountedUsers users = users_of(facts.recipients.paths, are_too_many, policy.recipient_delimiter);
  return std::ranges::any_of(suspended, [&](const Suspension& each) {
    const auto covers_it = [&each](std::string_view name) { return covers(each, name); };
    const bool is_for_it =
        each.user.empty() || !users.are_all_known || std::ranges::find(users.names, each.user) != users.names.end();
    return is_for_it && each.holds(now) && std::ranges::any_of(sender.names(), covers_it);
  });
}

// Takes the steps again with each reply of a store, and for a sender who is suspended, as the daemon does; the trace
// has those of the last time. How much a sender sends is the daemon's to know.
void decide_now(MessageDecision& made, const LearnedSenders* learned, const Suspensions& suspended) {
  Lists lists = made.lists->lists();
  lists.learned = learned;
  made.facts.hold = Hold::none;
  const auto deadline = StoreReaders::Clock::now() + made.rules.confirm_timeout;
  for (;;) {
    made.trace = made.first_steps;
    made.decision = decide(made.facts, lists, made.rules.policy, &made.trace);
    if (made.decision.question) {
      const StoreQuestion& question = *made.decision.question;
      made.facts.replies.push_back(
          {question, made.lists->with_store(question.store)->filter->confirm(question.hash, deadline, {})});
    } else if (is_held(suspended, made.facts, made.decision, lists, made.rules.policy)) {
      made.facts.hold = Hold::suspended;
    } else {
      break;
    }
  }
  made.sender = {};
  if (made.decision.verdict == Verdict::deliver && !is_exempt(made.decision.reason)) {
    made.sender = counted_sender(made.facts, made.decision, lists, made.rules.policy);
  }
}

// From is that of `--from` if there is neither a message nor another From. False: it is not so, or cannot be.
bool assume_from(const ExplainOptions& given, const std::string& body, std::vector<HeaderField>& fields) {
  if (!given.header_from.empty() || !body.empty() || !given.from) return false;
  if (!fields.empty() && !has_fields(given)) return false;
  const std::string_view address = ascii::trimmed(*given.from, " \t<>");
  if (address.empty()) return false;
  fields.push_back({"From", " <" + std::string(address) + '>'});
  return true;
}

}  // namespace

std::shared_ptr<const LoadedLists> loaded_lists(const DaemonOptions& options) {
  ListParts parts;
  for (const WhitelistSource& source : options.whitelists) {
    try {
      for (NamedFilter& each : load_whitelist_files(source, false, FilterCheck::header)) {
        parts.whitelists.push_back(std::move(each));
      }
    } catch (const BloomgateError&) {
      if (!options.allow_missing_whitelist) throw;
      parts.whitelists.push_back({source.name, nullptr});
    }
  }
  for (const NamedExactList& each : kExactLists) {
    try {
      if (const auto read = read_configured_list(options, each, parts.whitelists)) (parts.*each.part).list = read->list;
    } catch (const BloomgateError&) {
      if (!is_awaited(options, each, parts.whitelists)) throw;
      parts.*each.part = {.is_lost = true};
    }
  }
  return std::make_shared<const LoadedLists>(std::move(parts));
}

Suspensions suspensions_of(const DaemonOptions& options) {
  if (!options.suspend || access(options.suspend_file.c_str(), R_OK) != 0) return {};
  return read_suspensions(options.suspend_file);
}

void decide_again(MessageDecision& made, const DaemonCommand& command, Assumed assumed) {
  const std::unique_ptr<LearnedInFiles> learned = learned_of(command.options);
  const Suspensions suspended = assumed.none_is_suspended ? Suspensions() : suspensions_of(command.options);
  const Senders senders(made.facts, made.rules.policy);
  if (assumed.from_is_learned && senders.has_from()) {
    const AlsoLearned also(learned.get(), senders.from());
    decide_now(made, &also, suspended);
  } else {
    decide_now(made, learned.get(), suspended);
  }
  if (learned && !learned->fault().empty()) throw BloomgateError(ErrorCode::cannot_read, learned->fault());
}

void decide_message(MessageDecision& made, const DaemonCommand& command, std::istream* message, Assumed assumed) {
  made.rules = judge_rules(command);
  made.lists = loaded_lists(command.options);
  made.recorder.keep_header(true);
  made.recorder.set_leading_space(true);
  made.recorder.expect_recipients(!command.explain.to.empty());
  std::string body;
  std::vector<HeaderField> fields = fields_of(command.explain, message, body);
  made.is_from_assumed = assume_from(command.explain, body, fields);
  record(made.recorder, command, fields);

  made.mta_name = mta_name(command);
  const std::vector<std::string> ids = trusted_ids(made.rules, made.mta_name);
  made.facts = made.recorder.facts(ids, made.rules.trusted_fields, made.rules.cover);
  if (has_fields(command.explain)) {
    made.facts.authentication = believed(command.explain, ids, made.rules.trusted_fields);
  }
  made.first_steps.add("results-of", "", "", joined(ids));
  made.trace = made.first_steps;
  if (made.recorder.failed()) return;
  decide_again(made, command, assumed);
  const SignatureNeed need = made.decision.need;
  if (need.is_empty()) return;
  // A message that is described, not given, has no signature.
  const bool is_given = message != nullptr && !has_fields(command.explain);
  made.facts.signatures = is_given ? verified(command.options, made.recorder, need, body, *message) : Signatures();
  for (const Domain& domain : need.domains) {
    if (!domain.view().empty()) made.first_steps.add("needs-signature", domain.view(), "", "yes");
  }
  decide_again(made, command, assumed);
}

}  // namespace bloomgate
