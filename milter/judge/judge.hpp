// Decides messages: takes the facts of a message, asks the lists, the stores, what was learned and the policy, and
// learns. Used by Hearing, from all session threads at once. A reload may change the rules at any time: all decisions
// of a message use the rules of its first one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "milter/brake/brake.hpp"
#include "milter/judge/results_watch.hpp"
#include "milter/learning/learner.hpp"
#include "milter/lists/loaded_lists.hpp"
#include "milter/message/message_recorder.hpp"
#include "milter/policy/decide.hpp"
#include "milter/policy/trace.hpp"
#include "milter/record/record.hpp"

namespace bloomgate {

// The rules by which messages are decided.
struct JudgeRules {
  Policy policy = {};
  // The authserv-ids whose authentication results are believed; empty: the mail server's own name.
  std::vector<std::string> trusted_authserv_ids = {};
  // False: if the list is empty, no results are believed. Anyone can write a field in the mail server's name, and an
  // operator who has configured nothing has not set up the mail server to remove such fields.
  bool trusts_mta_name = true;
  // How many fields of authentication results count, from the top; 0: all.
  std::size_t trusted_fields = 0;
  // What a signature must cover before a trusted DKIM result counts.
  CoverRules cover = {};
  // How long a message waits for the stores that confirm its senders.
  std::chrono::milliseconds confirm_timeout{2000};
};

// The judge's reports, called by a session's thread; none of them may block.
struct JudgeReports {
  std::function<void()> on_damage;   // once for each whitelist that turns out damaged, and for each fault of a store
  std::function<void()> on_results;  // each time ResultsWatch::missing() has changed
  std::function<void()> before_waiting = nullptr;  // a session is about to wait for a store's disk
};

// The authserv-ids that are believed for a message from this mail server.
std::vector<std::string> trusted_ids(const JudgeRules& rules, std::string_view mta_name);

struct Judgement : DecidedMessage {
  std::shared_ptr<const JudgeRules> rules = {};  // the rules by which it was made
};

class Judge {
 public:
  // The references must outlive the judge, and so must `learner` (null: nothing is learned) and `brake` (null: no
  // message is held).
  Judge(JudgeRules rules, const ListSlot& slot, ResultsWatch& results, const Record& record, JudgeReports reports,
        Learner* learner = nullptr, Brake* brake = nullptr)
      : rules_(std::make_shared<const JudgeRules>(std::move(rules))),
        look_up_rules_(look_up_rules(*rules_.get())),
        slot_(slot),
        results_(results),
        record_(record),
        reports_(std::move(reports)),
        learner_(learner),
        brake_(brake) {}

  // Applies from the next message on.
  void set_rules(std::shared_ptr<const JudgeRules> rules) {
    look_up_rules_.set(look_up_rules(*rules));
    rules_.set(std::move(rules));
  }

  // Whether the recipients of messages matter: a list in use holds pairs, something is learned, a recipient may have
  // opted out, or the brake needs them. If that becomes true while a connection is open, the recipients of its messages
  // stay unknown.
  bool wants_recipients() const { return knows_learned() || brakes() || slot_.get()->lists().ask_for_recipients(); }

  // Whether something is learned. Then the first bytes of a message that teaches are examined.
  bool is_learning() const noexcept { return learner_ != nullptr && learner_->is_on(); }
  bool knows_learned() const noexcept { return learner_ != nullptr && learner_->may_know(); }

  // Decides the message by what is recorded so far; one that has failed() becomes `check; reason=internal-error`. Asks
  // the stores that the decision needs, and waits for them as long as the rules allow. Throws only if memory runs out.
  Judgement judge(MessageRecorder& message, std::string_view mta_name) const;

  // Whether a look-up without a message also asks what was learned, which reveals who writes to whom.
  enum class AskLearned : bool { no, yes };

  // What the lists say about a sender without a message: `deliver` if a message that is proven to be the sender's would
  // be delivered, else `check`, with the reason. For one recipient; if `recipient` is empty, for a recipient who has
  // not opted out.
  // `sender` and `recipient` are paths as a mail server passes them. Waits for stores until `deadline` at most. The
  // look-up appears in no log and in no figure of messages. Throws only if memory runs out.
  Decision look_up(std::string_view sender, std::string_view recipient, std::chrono::steady_clock::time_point deadline,
                   AskLearned ask_learned) const;

  // Decides the message again, with the signatures that its decision needed. Throws as judge().
  void judge_again(Judgement& made, Signatures signatures) const;

  // The steps of that decision, by the lists that are in use now. If other lists are in use by now and decide
  // differently, the steps are incomplete. Throws std::bad_alloc.
  Trace steps_of(const Judgement& made) const;

  // What a message stores when it begins, for learn_from().
  LearnedBegin begin_message() const noexcept { return is_learning() ? learner_->begin_message() : LearnedBegin(); }

  // What the message teaches if it is accepted: to whom a local user writes. If this fails, it only logs a line.
  Lesson lesson_of(const Judgement& made) const noexcept;

  // The sender of mail that the lists would deliver, if the sender is proven. Empty if not, and if no sender may be
  // suspended. Throws std::bad_alloc.
  CountedNames proven_sender(const Judgement& made) const;

  // Passes on what a checker says about such mail. A failure is logged.
  void tell(SuspendedSenders::Opinion opinion) const noexcept;

  // To be called when the message is accepted: learns from it, and extends the life of the learned pairs that have
  // delivered it. A failure is logged.
  void learn_from(const MessageRecorder& message, const Judgement& made, const Lesson& lesson,
                  const LearnedBegin& began, std::string_view queue_id) const noexcept;

 private:
  // What a decision may ask, and for how long.
  struct Asked {
    const LoadedLists& loaded;
    Lists lists;  // those of `loaded` that may be asked
    std::chrono::steady_clock::time_point deadline;
    const std::function<void()>& before_waiting;  // may be empty
  };

  // Includes the learned senders, if there are any.
  Lists all_of(const LoadedLists& loaded) const noexcept;
  void renew(const Judgement& made) const;
  void decide_message(Judgement& made, const Asked& asked) const;
  bool brakes() const noexcept { return brake_ != nullptr && brake_->may_hold(); }
  void brake(Judgement& made, const Lists& lists) const;
  // Asks the brake about a message that would be delivered, and decides it again if it is held.
  template <typename Ask>
  void hold(Judgement& made, const Lists& lists, Ask ask) const;
  Confirmation ask_store(const StoreQuestion& question, const Asked& asked) const;
  void report_damage(const ListParts& parts) const;
  void report_results(const Judgement& made) const;

  static std::shared_ptr<const JudgeRules> look_up_rules(const JudgeRules& rules);

  Slot<JudgeRules> rules_;
  Slot<JudgeRules> look_up_rules_;  // the same for look_up()
  const ListSlot& slot_;
  ResultsWatch& results_;
  const Record& record_;
  JudgeReports reports_;
  Learner* learner_;
  Brake* brake_;
};

}  // namespace bloomgate
