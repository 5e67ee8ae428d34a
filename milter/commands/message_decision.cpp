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
#include "milter/brake/suspensions.hpp"
#include "milter/daemon/daemon.hpp"
#include "milter/dkim/library_verifier.hpp"
#include "milter/fields/field_name.hpp"
#include "milter/judge/policy_of_options.hpp"
#include "milter/learning/learner.hpp"
#include "milter/learning/outgoing.hpp"
#include "milter/lists/exact_list_file.hpp"
#include "milter/lists/loaded_lists.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "milter/names/resolver.hpp"
#include "milter/policy/decide.hpp"

namespace bloomgate {
namespace {

LoadedLists loaded_lists(const DaemonOptions& options) {
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
    const std::string& path = options.*each.path;
    if (!path.empty()) (parts.*each.part).list = std::make_shared<const ExactList>(load_exact_list(path, each.of).list);
  }
  return LoadedLists(std::move(parts));
}

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

std::string envelope_sender(const ExplainOptions& given, const std::vector<HeaderField>& fields) {
  if (given.from) return *given.from;
  const auto path =
      std::ranges::find_if(fields, [](const auto& field) { return is_header(field.name, "Return-Path"); });
  if (path != fields.end()) return std::string(ascii::trimmed_front(path->value, " \t"));
  throw config_error({}, "explain",
                     "the envelope sender is not known: give --from, or a message with a Return-Path field");
}

void record(MessageRecorder& message, const ExplainOptions& given, const std::vector<HeaderField>& fields) {
  message.begin_connection(given.client);
  message.begin_message(envelope_sender(given, fields),
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
  return names.empty() ? "nobody" : fmt::format("{}", fmt::join(names, ","));
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

// What the daemon has learned, in its database.
class LearnedInFile : public LearnedSenders {
 public:
  explicit LearnedInFile(const LearnRules& rules)
      : file_(rules.path, LearnedFile::Access::read), first_kept_(rules.first_kept_day(utc_day())) {}

  bool is_learned(std::string_view user, std::string_view sender) const noexcept override {
    return is_kept([&] { return file_.find(user, sender); });
  }

  // Reads all of the file: a message is explained once.
  bool has_sender_domain(std::string_view domain) const noexcept override {
    return is_kept([&] { return file_.last_use_of_domain(domain); });
  }

  // What went wrong in a look-up; empty: nothing.
  const std::string& fault() const noexcept { return fault_; }

 private:
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

  mutable LearnedFile file_;
  LearnedDay first_kept_;
  mutable std::string fault_;
};

class EverybodyIsLearned : public LearnedSenders {
 public:
  bool is_learned(std::string_view /*user*/, std::string_view /*sender*/) const noexcept override { return true; }
  bool has_sender_domain(std::string_view /*domain*/) const noexcept override { return true; }
};

// Nothing if nothing is learned, or the daemon has not made its database yet.
std::unique_ptr<LearnedInFile> learned_of(const DaemonOptions& options) {
  const LearnRules rules = learn_rules(options);
  if (!rules.is_on() || access(rules.path.c_str(), F_OK) != 0) return nullptr;
  return std::make_unique<LearnedInFile>(rules);
}

// None where none is kept, or where the caller may not read them.
Suspensions suspensions_of(const DaemonOptions& options) {
  if (!options.suspend || access(options.suspend_file.c_str(), R_OK) != 0) return {};
  return read_suspensions(options.suspend_file);
}

// Whether the message is for that user, or may be.
bool has_user(const Facts& facts, std::string_view user, const Policy& policy) {
  return !facts.recipients.are_known() || std::ranges::any_of(facts.recipients.paths, [&](std::string_view path) {
    return user_of(path, policy).key() == user;
  });
}

// What the lists are asked for beside the whitelists.
struct Others {
  std::unique_ptr<LearnedInFile> learned;  // null: nothing is
  Suspensions suspended;

  bool hold(const Facts& facts, const Decision& decision, const Lists& lists, const Policy& policy) const {
    if (decision.verdict != Verdict::deliver || is_exempt(decision.reason)) return false;
    const CountedSender sender = counted_sender(facts, decision, lists, policy);
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto covers = [](std::string_view entry, std::string_view name) {
      return entry == name || is_of_domain_entry(name, entry);
    };
    return std::ranges::any_of(suspended, [&](const Suspension& each) {
      const auto [entry, user] = sides_of_suspension(each.entry);
      return each.holds(now) && (covers(entry, sender.key.view()) || covers(entry, sender.address.view())) &&
             (user.empty() || has_user(facts, user, policy));
    });
  }
};

// Takes the steps again with each reply of a store, and for a sender who is suspended, as the daemon does; `trace` has
// those of the last time. How much a sender sends is the daemon's to know.
Decision decided(Facts& facts, const LoadedLists& loaded, const LearnedSenders* learned, const Others& others,
                 const JudgeRules& rules, const Trace& first_steps, Trace& trace) {
  Lists lists = loaded.lists();
  lists.learned = learned;
  const auto deadline = StoreReaders::Clock::now() + rules.confirm_timeout;
  for (;;) {
    trace = first_steps;
    Decision decision = decide(facts, lists, rules.policy, &trace);
    if (!decision.question) {
      if (!others.hold(facts, decision, lists, rules.policy)) return decision;
      facts.hold = Hold::suspended;
      continue;
    }
    const StoreQuestion& question = *decision.question;
    facts.replies.push_back(
        {question, loaded.with_store(question.store)->filter->confirm(question.hash, deadline, {})});
  }
}

// From is that of `--from` if there is neither a message nor a field of one. False: it is not so, or cannot be.
bool assume_from(const ExplainOptions& given, const std::string& body, std::vector<HeaderField>& fields) {
  if (has_fields(given) || !fields.empty() || !body.empty() || !given.from) return false;
  const std::string_view address = ascii::trimmed(*given.from, " \t<>");
  if (address.empty()) return false;
  fields.push_back({"From", " <" + std::string(address) + '>'});
  return true;
}

}  // namespace

void decide_message(MessageDecision& made, const DaemonCommand& command, std::istream* message, WhoIsLearned learned) {
  const JudgeRules rules = judge_rules(command);
  const LoadedLists lists = loaded_lists(command.options);
  const bool is_as_known = learned == WhoIsLearned::as_known;
  const Others others = {is_as_known ? learned_of(command.options) : nullptr,
                         is_as_known ? suspensions_of(command.options) : Suspensions()};
  const EverybodyIsLearned everybody;
  auto& [recorder, name, facts, trace, decision, policy, sender, is_from_assumed] = made;
  policy = rules.policy;
  recorder.keep_header(true);
  recorder.set_leading_space(true);
  recorder.expect_recipients(!command.explain.to.empty());
  std::string body;
  std::vector<HeaderField> fields = fields_of(command.explain, message, body);
  is_from_assumed = assume_from(command.explain, body, fields);
  record(recorder, command.explain, fields);

  name = mta_name(command);
  const std::vector<std::string> ids = trusted_ids(rules, name);
  facts = recorder.facts(ids, rules.trusted_fields, rules.cover);
  if (has_fields(command.explain)) facts.authentication = believed(command.explain, ids, rules.trusted_fields);
  Trace first_steps;
  first_steps.add("results-of", "", "", joined(ids));
  trace = first_steps;
  const auto decide_now = [&] {
    const LearnedSenders* const asked =
        is_as_known ? static_cast<const LearnedSenders*>(others.learned.get()) : &everybody;
    decision = decided(facts, lists, asked, others, rules, first_steps, trace);
  };
  if (!recorder.failed()) decide_now();
  if (!decision.need.is_empty()) {
    // A message that is described, not given, has no signature.
    const bool is_given = message != nullptr && !has_fields(command.explain);
    facts.signatures = is_given ? verified(command.options, recorder, decision.need, body, *message) : Signatures();
    for (const Domain& domain : decision.need.domains) {
      if (!domain.view().empty()) first_steps.add("needs-signature", domain.view(), "", "yes");
    }
    decide_now();
  }
  if (others.learned && !others.learned->fault().empty()) {
    throw BloomgateError(ErrorCode::cannot_read, others.learned->fault());
  }
  const bool is_by_lists = decision.verdict == Verdict::deliver && !is_exempt(decision.reason);
  if (is_by_lists) sender = counted_sender(facts, decision, lists.lists(), policy);
}

}  // namespace bloomgate
