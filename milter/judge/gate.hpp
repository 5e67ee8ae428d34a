// Takes a message's facts to its decision, by the lists and the policy in force, and writes its line of the log. Used
// by Connection, from all session threads at once. A reload may put other rules in at any time: a message is decided by
// those of its first decision.
#pragma once

#include <spdlog/fwd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "milter/deep_check/delivery_sampler.hpp"
#include "milter/judge/results_watch.hpp"
#include "milter/learning/learner.hpp"
#include "milter/lists/list_slot.hpp"
#include "milter/message/message_recorder.hpp"
#include "milter/monitoring/monitor.hpp"
#include "milter/policy/decide.hpp"

namespace bloomgate {

// By what messages are decided.
struct GateRules {
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

// What the gate reports, from a session's thread; neither may block.
struct GateReports {
  std::function<void()> on_damage;   // once for each whitelist that turns out damaged, and for each fault of a store
  std::function<void()> on_results;  // each time when ResultsWatch::missing() has changed
};

// Whose results are believed for a message that this mail server handed over.
std::vector<std::string> trusted_ids(const GateRules& rules, std::string_view mta_name);

// A message's decision, and what it was made from.
struct Judgement {
  std::shared_ptr<const GateRules> rules = {};  // that it was made by
  Facts facts = {};                             // valid as long as those of the recorder
  Decision decision = {};
  double microseconds = 0;          // what it took
  double confirm_microseconds = 0;  // how much of that the stores took
};

class Gate {
 public:
  // The references must outlive the gate, as must `monitor` (null: nobody watches) and `learner` (null: nothing is
  // learned).
  Gate(GateRules rules, const ListSlot& slot, ResultsWatch& results, std::shared_ptr<spdlog::logger> log,
       GateReports reports, Monitor* monitor = nullptr, Learner* learner = nullptr)
      : rules_(std::make_shared<const GateRules>(std::move(rules))),
        look_up_rules_(look_up_rules(*rules_.get())),
        slot_(slot),
        results_(results),
        log_(std::move(log)),
        reports_(std::move(reports)),
        monitor_(monitor),
        learner_(learner) {}

  // From the next message on.
  void set_rules(std::shared_ptr<const GateRules> rules) {
    look_up_rules_.set(look_up_rules(*rules));
    rules_.set(std::move(rules));
  }

  // Whether the recipients of messages make a difference: a list in use holds pairs, or something is learned, or
  // somebody may have opted out. If that becomes so while a connection is open, the recipients of its messages stay
  // unknown.
  bool wants_recipients() const { return is_learning() || slot_.get()->lists().ask_for_recipients(); }

  // Whether something is learned; the first bytes of a message that teaches are looked at, then.
  bool is_learning() const noexcept { return learner_ != nullptr && learner_->is_on(); }

  // Called before a session waits, may be empty; see ConnectionParts.
  using BeforeWaiting = std::function<void()>;

  // Decides the message by what is recorded of it now; one that has failed() is `check; reason=internal-error`. Asks
  // the stores that the decision needs, and waits for them as long as the rules allow. Throws only where memory runs
  // out.
  Judgement judge(MessageRecorder& message, std::string_view mta_name, const BeforeWaiting& before_waiting = {}) const;

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
  void judge_again(Judgement& made, Signatures signatures, const BeforeWaiting& before_waiting = {}) const;

  // What a message notes when it begins, for learn_from().
  LearnedBegin begin_message() const noexcept { return is_learning() ? learner_->begin_message() : LearnedBegin(); }

  // What the message teaches if it goes on: whom a user of ours writes to. If that fails, a line of the log and nothing
  // else.
  Lesson lesson_of(const Judgement& made) const noexcept;

  // The message goes on: learns that, and keeps what was learned and has delivered it. A failure is logged.
  void learn_from(const MessageRecorder& message, const Judgement& made, const Lesson& lesson,
                  const LearnedBegin& began, std::string_view queue_id) const noexcept;

  // Logs one line about the message at level info, here broken in two:
  //
  //     queue_id=4XyZ1 sender=<joe@example.org> decision=deliver reason=listed time_us=1.4
  //     identity=envelope authentication=dkim whitelist=customers header_from=joe@example.org
  //
  // with `fault=` for a malformed sender, `forged_headers=` where the message came with X-Bloomgate fields, where
  // signatures were verified
  //
  //     dkim=pass domain=example.org selector=s1 key_bits=2048 key_ms=12.3
  //
  // where a name below the sender's domain has signed, and that alone kept the message from delivery
  //
  //     child_signer=mg.shop.example child_of=shop.example
  //
  // where pairs were looked up `recipients=3 listed_for=2`, where a store was asked `confirmed=yes confirm_us=12.3`,
  // and then what the deeper check has to add. No byte of the sender can add a field or a line to it. The message
  // counts in the daemon's figures from then on, whatever is logged. Throws only where memory runs out.
  void log_message(const MessageRecorder& message, const Judgement& made, std::string_view queue_id,
                   std::string_view deep_check = {}) const;

  // Logs the line of a message that is refused for its forged fields, at level warn, in the place of the other one:
  //
  //     queue_id=4XyZ1 sender=<joe@example.org> decision=refuse reason=forged-fields forged_headers=100000
  //
  // Throws only where memory runs out.
  void log_refusal(const Judgement& made, std::string_view queue_id, std::size_t forged_fields) const;

  // A message that is delivered, for a checker's opinion afterwards. Takes its text. Throws only where memory runs out.
  static DeliverySample sample(MessageRecorder& message, const Judgement& made, const EndOfMessage& end);

 private:
  // With what was learned, if something is.
  Lists all_of(const LoadedLists& loaded) const noexcept;
  void renew(const Judgement& made) const;
  // By `lists`, those of `loaded` as far as they are to be asked.
  void decide_message(Judgement& made, const LoadedLists& loaded, const Lists& lists,
                      std::chrono::steady_clock::time_point deadline, const BeforeWaiting& before_waiting) const;
  Confirmation ask_store(const LoadedLists& lists, const StoreQuestion& question,
                         std::chrono::steady_clock::time_point deadline, const BeforeWaiting& before_waiting) const;
  void report_damage(const ListParts& parts) const;
  void report_results(const Judgement& made) const;

  static std::shared_ptr<const GateRules> look_up_rules(const GateRules& rules);

  Slot<GateRules> rules_;
  Slot<GateRules> look_up_rules_;  // the same for look_up()
  const ListSlot& slot_;
  ResultsWatch& results_;
  std::shared_ptr<spdlog::logger> log_;
  GateReports reports_;
  Monitor* monitor_;
  Learner* learner_;
};

}  // namespace bloomgate
