// One message before the judge, from its MAIL command to the answer for the mail server. It is decided with its header,
// and if the decision needs signatures, once more with the verifier's result. It may be shown to the deeper check. Then
// it is recorded, and may teach. Between header and end, the body goes to the verifier, and also into the text for a
// checker.
//
//     Connection -> Hearing -> Judge -> decide() -> Decision -> Record -> Answer -> Connection
//
// One thread at a time. Legal order of calls, beside those of the recorder:
//
//     (begin_message end_of_header? add_body* end_of_message? forget_message)*
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/daemon_options.hpp"
#include "milter/deep_check/deep_check.hpp"
#include "milter/deep_check/delivery_sampler.hpp"
#include "milter/dkim/verifier.hpp"
#include "milter/judge/answer.hpp"
#include "milter/judge/judge.hpp"
#include "milter/learning/pending_lesson.hpp"
#include "milter/message/message_recorder.hpp"
#include "milter/policy/header_field.hpp"
#include "milter/record/record.hpp"

namespace bloomgate {

// The parts that are involved, and how messages are marked.
struct HearingParts {
  const Judge* judge = nullptr;
  const Record* record = nullptr;
  std::shared_ptr<const DeepCheck> deep_check = {};  // null: no checker is asked; always null if `mode` is observe
  std::shared_ptr<DeliverySampler> sampler = {};     // null: no delivered message is shown to the checker
  std::shared_ptr<Verifier> verifier = {};  // null: no signature is verified; a decision that needs one stays `check`
  Mode mode = Mode::enforce;
  CheckMark check_mark = CheckMark::plain;
  std::string host_name = {};      // written into the header field; empty: the mail server's macro j
  std::string fallback_host = {};  // used if neither has a value
  bool learns = true;              // from these messages, if something is learned
  // Called by a thread that is about to wait for a checker or a name server; may be empty, must not throw.
  std::function<void()> before_waiting = nullptr;

  // Whether recipients of messages matter now.
  bool want_recipients() const { return deep_check != nullptr || judge->wants_recipients(); }
  // Whether bodies of messages matter now.
  bool want_body() const { return deep_check != nullptr || verifier != nullptr || judge->is_learning(); }
};

class Hearing {
 public:
  // Both must outlive the object. `message` is the recorder of the connection's messages.
  Hearing(const HearingParts& parts, MessageRecorder& message) noexcept : parts_(parts), message_(message) {}

  void begin_message() noexcept { began_ = parts_.judge->begin_message(); }

  // The header is complete: decides the message, and whether its body is needed. If the mail server skips this step,
  // the end of the message follows, and no signature is verified. Throws.
  void end_of_header(std::string_view mta_name);

  // The next bytes of the body. Returns whether more of it is needed.
  bool add_body(std::string_view bytes) noexcept;

  // If signatures are verified or a checker is asked, takes as long as they do. The answer is valid until
  // forget_message(). Throws.
  Answer end_of_message(const EndOfMessage& end);

  // The answer if end_of_message() has thrown: the message is not checked, so its deeper check has failed.
  Answer answer_after_exception() const noexcept;

  // The decision, from when it is made until forget_message().
  const Judgement& judgement() const noexcept { return *judgement_; }

  // The name in our header field, if the mail server calls itself `mta_name`.
  std::string_view host(std::string_view mta_name) const noexcept;

  // The message is over, or was abandoned. A delivered message may go to the sampler now.
  void forget_message() noexcept;

 private:
  void begin_verification();
  void end_verification();
  void wait() const;
  bool is_drawn() const noexcept;
  void take_sample(const EndOfMessage& end) noexcept;
  bool check_deeply(const EndOfMessage& end);
  std::function<void(bool is_spam)> opinion(std::string_view queue_id) const;
  Edits edits(std::string_view mta_name, bool exempt);
  std::optional<Refusal> refusal_for_forged_fields(bool exempt) const noexcept;

  const HearingParts& parts_;
  MessageRecorder& message_;
  LearnedBegin began_;
  std::optional<Judgement> judgement_;  // once the message is decided; if it has a need, provisional
  PendingLesson lesson_;                // from then on
  std::unique_ptr<Verification> verification_;
  bool is_drawn_ = false;                 // for the sampler, if the message is delivered
  std::optional<DeliverySample> sample_;  // once the message is delivered
  // The targets of the answer's views.
  DeepOutcome deep_outcome_;
  std::string mark_;
};

}  // namespace bloomgate
