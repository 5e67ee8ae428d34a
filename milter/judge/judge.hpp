// Takes a message's facts to its decision, by the lists and the policy in force: asks stores and what was learned, and
// learns. Used by Hearing, from all session threads at once. A reload may put other rules in at any time: a message is
// decided by those of its first decision.
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

// By what messages are decided.
struct JudgeRules {
  Policy policy = {};
  // Whose results of authentication are believed; empty: those of the mail server's own name.
  std::vector<std::string> trusted_authserv_ids = {};
  // If not, an empty list means nobody: anyone can write a field in the mail server's name, and who has configured
  // nothing has not told the mail server to remove them.
  bool trusts_mta_name = true;
  // How many fields of results, from the top, are looked at; 0: all.
  std::size_t trusted_fields = 0;
  // What a signature has to cover before a trusted result of DKIM counts.
  CoverRules cover = {};
  // How long a message waits for the stores that confirm its senders.
  std::chrono::milliseconds confirm_timeout{2000};
};

// What the judge reports, from a session's thread; none may block.
struct JudgeReports {
  std::function<void()> on_damage;   // once for each whitelist that turns out damaged, and for each fault of a store
  std::function<void()> on_results;  // each time when ResultsWatch::missing() has changed
  std::function<void()> before_waiting = nullptr;  // a session is about to wait for a store's disk
};

// Whose results are believed for a message that this mail server handed over.
std::vector<std::string> trusted_ids(const JudgeRules& rules, std::string_view mta_name);

struct Judgement : DecidedMessage {
  std::shared_ptr<const JudgeRules> rules = {};  // that it was made by
};

class Judge {
 public:
  // The references must outlive the judge, as must `learner` (null: nothing is learned) and `brake` (null: none is
  // held).
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

  // From the next message on.
  void set_rules(std::shared_ptr<const JudgeRules> rules) {
    look_up_rules_.set(look_up_rules(*rules));
    rules_.set(std::move(rules));
  }

  // Whether the recipients of messages make a difference: a list in use holds pairs, or something is learned, or
  // a recipient may have opted out, or the brake asks for them. If that becomes so while a connection is open, the
  // recipients of its messages stay unknown.
  bool wants_recipients() const { return knows_learned() || brakes() || slot_.get()->lists().ask_for_recipients(); }

  // Whether something is learned; the first bytes of a message that teaches are looked at, then.
  bool is_learning() const noexcept { return learner_ != nullptr && learner_->is_on(); }
  bool knows_learned() const noexcept { return learner_ != nullptr && learner_->may_know(); }

  // Decides the message by what is recorded of it now; one that has failed() is `check; reason=internal-error`. Asks
  // the stores that the decision needs, and waits for them as long as the rules allow. Throws only where memory runs
  // out.
  Judgement judge(MessageRecorder& message, std::string_view mta_name) const;

  // Whether a look-up without a message also asks what was learned, which says who writes to whom.
  enum class AskLearned : bool { no, yes };

  // What the lists say of a sender about whose message nothing is known: `deliver` if a message that is proven to be
  // his would be delivered, else `check`, with the reason. For one recipient, or for none that is known (empty): then
  // for one who has not opted out.
  // `sender` and `recipient` are paths as a mail server gives them. Waits for stores until `deadline` at most. It is in
  // no log and no figure of messages. Throws only where memory runs out.
  Decision look_up(std::string_view sender, std::string_view recipient, std::chrono::steady_clock::time_point deadline,
                   AskLearned ask_learned) const;

  // Decides it again, with the signatures that its decision needed. Throws as judge().
  void judge_again(Judgement& made, Signatures signatures) const;

  // The steps of that decision, by the lists in use now. Where these decide it otherwise, since there are others by
  // now, they are not complete. Throws std::bad_alloc.
  Trace steps_of(const Judgement& made) const;

  // What a message notes when it begins, for learn_from().
  LearnedBegin begin_message() const noexcept { return is_learning() ? learner_->begin_message() : LearnedBegin(); }

  // What the message teaches if it goes on: whom a user of ours writes to. If that fails, a line of the log and nothing
  // else.
  Lesson lesson_of(const Judgement& made) const noexcept;

  // Whose mail it is that the lists would deliver, if that is proven; empty if it is not, and if no sender may be
  // suspended. Throws std::bad_alloc.
  CountedNames proven_sender(const Judgement& made) const;

  // What a checker says of such mail. A failure is logged.
  void tell(SuspendedSenders::Opinion opinion) const noexcept;

  // The message goes on: learns that, and keeps what was learned and has delivered it. A failure is logged.
  void learn_from(const MessageRecorder& message, const Judgement& made, const Lesson& lesson,
                  const LearnedBegin& began, std::string_view queue_id) const noexcept;

 private:
  // What a decision may ask, and how long.
  struct Asked {
    const LoadedLists& loaded;
    Lists lists;  // those of `loaded`, as far as they are to be asked
    std::chrono::steady_clock::time_point deadline;
    const std::function<void()>& before_waiting;  // may be empty
  };

  // With what was learned, if something is.
  Lists all_of(const LoadedLists& loaded) const noexcept;
  void renew(const Judgement& made) const;
  void decide_message(Judgement& made, const Asked& asked) const;
  bool brakes() const noexcept { return brake_ != nullptr && brake_->may_hold(); }
  void brake(Judgement& made, const Lists& lists) const;
  // Asks the brake about a message that would be delivered, and decides it again where it is held.
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
