#include "milter/daemon/message_answers.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <variant>

#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/base/printable.hpp"
#include "filter/system/held_signals.hpp"
#include "milter/judge/hearing.hpp"
#include "milter/learning/logger.hpp"
#include "milter/policy/explain.hpp"
#include "milter/why/why_sentence.hpp"

namespace bloomgate {
namespace {

constexpr std::chrono::milliseconds kUntilTaken{500};
constexpr std::size_t kBodyPiece = std::size_t{1} << 16;

class InProgress {
 public:
  explicit InProgress(MessagesInProgress* messages) : messages_(messages) { messages_->begin(); }
  ~InProgress() { messages_->end(); }
  InProgress(const InProgress&) = delete;
  InProgress& operator=(const InProgress&) = delete;

 private:
  MessagesInProgress* const messages_;
};

void record(MessageRecorder& recorder, const PostedEnvelope& envelope, const std::vector<HeaderField>& fields) {
  recorder.begin_connection(envelope.client);
  if (!envelope.helo.empty()) recorder.greet(envelope.helo);
  recorder.begin_message(envelope.from, {.login = envelope.login, .daemon_name = envelope.daemon_name});
  for (const std::string& path : envelope.to) recorder.add_recipient(path);
  for (const HeaderField& field : fields) recorder.add_header(field.name, field.value);
}

void hear_body(Hearing& hearing, std::string_view body) {
  char last = '\0';
  while (!body.empty()) {
    const std::string_view piece = body.substr(0, kBodyPiece);
    body.remove_prefix(piece.size());
    if (!hearing.add_body(with_crlf(piece, last))) return;
  }
}

HttpAnswer json_answer(const Json& json) {
  return {.content_type = "application/json", .body = json.dump(-1) + '\n'};
}

// The answer for a message that is refused before it is decided.
HttpAnswer refused(const Refusal& refusal) {
  return json_answer({{"decision", "refuse"},
                      {"reason", "forged-fields"},
                      {"why", refusal.reply.empty() ? "It could not be looked at as a whole." : refusal.reply},
                      {"mark", Json()}});
}

HttpAnswer explained(const Hearing& hearing, const ConnectionParts& parts, const PostedEnvelope& envelope) {
  const Judgement& made = hearing.judgement();
  const Trace steps = parts.judge->steps_of(made);
  KnownDecision known = known_of_decision(made.decision, made.facts, steps);
  known.rule = made.rules->policy.identity;
  Json json = explanation(steps, made.decision, hearing.host(envelope.mta_name), parts.check_mark, why_sentence(known));
  // In mode observe, the program must not act on the decision.
  if (parts.mode == Mode::observe) {
    json["observed"] = verdict_name(made.decision.verdict);
    json["why"] = "Checked, because the mode is observe. In the mode enforce: " + why_sentence(known);
    json["decision"] = verdict_name(Verdict::check);
    json["mark"] = Json();
  }
  return json_answer(json);
}

}  // namespace

HttpAnswer decide_posted(const ConnectionParts& parts, const PostedEnvelope& envelope, std::string_view text) {
  const PostedText message = split_posted(text);
  if (!message.fault.empty()) {
    parts.log->warn("queue_id={} sender={} posted, and not decided: {}", logged_queue_id(envelope.queue_id),
                    printable_word(envelope.from, 320), message.fault);
    return http_refusal(400, "the message is not decided: " + std::string(message.fault));
  }
  ConnectionParts own = parts;
  own.deep_check = nullptr;
  own.sampler = nullptr;
  own.before_waiting = nullptr;
  own.learns = false;
  const InProgress progress(parts.in_progress);
  MessageRecorder recorder;
  recorder.keep_header(own.verifier != nullptr);
  recorder.set_leading_space(true);
  recorder.expect_recipients(!envelope.to.empty());
  Hearing hearing(own, recorder);
  hearing.begin_message();
  record(recorder, envelope, message.fields);
  hearing.end_of_header(envelope.mta_name);
  hear_body(hearing, message.body);
  const Answer answer = hearing.end_of_message({.queue_id = envelope.queue_id, .mta_name = envelope.mta_name});
  if (const auto* const refusal = std::get_if<Refusal>(&answer)) return refused(*refusal);
  return explained(hearing, own, envelope);
}

MessageAnswers::MessageAnswers(const PartsSlot& parts, std::size_t at_once, std::optional<BearerToken> token,
                               RefusedPosts& refused, std::shared_ptr<spdlog::logger> log)
    : parts_(parts), at_once_(at_once), token_(std::move(token)), refused_(refused), log_(std::move(log)) {
  const HeldSignals held;
  try {
    while (threads_.size() < at_once_) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    stop();
    throw BloomgateError(ErrorCode::no_system_resource,
                         std::string("cannot start a thread for messages that are posted: ") + error.what());
  }
}

MessageAnswers::~MessageAnswers() {
  stop();
}

bool MessageAnswers::finish_by(std::chrono::steady_clock::time_point deadline) noexcept {
  accept_no_more();
  std::unique_lock lock(mutex_);
  return is_idle_.wait_until(lock, deadline, [this] { return tasks_.empty() && at_work_ == 0; });
}

void MessageAnswers::accept_no_more() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  has_task_.notify_all();
}

void MessageAnswers::stop() noexcept {
  accept_no_more();
  for (std::thread& each : threads_) each.join();
  threads_.clear();
  places_.wait_until_free();
}

std::shared_ptr<void> MessageAnswers::Places::take(std::size_t most) {
  {
    const std::lock_guard lock(mutex_);
    if (taken_ == most) return nullptr;
    ++taken_;
  }
  // The deleter releases the place, even if there is no memory for the shared pointer.
  return {this, [](Places* places) {
            const std::lock_guard lock(places->mutex_);
            --places->taken_;
            places->is_free_.notify_all();
          }};
}

// A slow client, or one that has not sent its message yet, is not waited for.
void MessageAnswers::Places::wait_until_free() noexcept {
  std::unique_lock lock(mutex_);
  is_free_.wait_for(lock, kUntilTaken, [this] { return taken_ == 0; });
}

// Tasks that were pushed before the end are still done.
void MessageAnswers::work() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_task_.wait(lock, [this] { return is_over_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    ++at_work_;
    lock.unlock();
    task();
    lock.lock();
    --at_work_;
    is_idle_.notify_all();
  }
}

void MessageAnswers::push(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) throw BloomgateError(ErrorCode::no_system_resource, "no more messages are decided: the daemon stops");
    tasks_.push_back(std::move(task));
  }
  has_task_.notify_one();
}

HttpAdmission MessageAnswers::admit(const HttpRequest& request) {
  if (token_) {
    const auto is_authorization = [](const auto& field) {
      return ascii::equal_ignoring_case(field.first, "Authorization");
    };
    const auto shown = std::ranges::find_if(request.fields, is_authorization);
    if (shown == request.fields.end() || !token_->is_shown_by(shown->second)) {
      return {.refusal = http_refusal(401, "show the token of lookup-token: 'Authorization: Bearer TOKEN'")};
    }
  }
  std::string fault;
  if (request.target != "/message")
    return {.refusal = http_refusal(400, "/message has no query: the envelope is in fields of the request")};
  std::optional<PostedEnvelope> envelope = posted_envelope(request.fields, fault);
  if (!envelope) return {.refusal = http_refusal(400, std::move(fault))};
  std::shared_ptr<void> place = places_.take(at_once_);
  if (!place)
    return {.refusal = http_refusal(503, "too many messages at once; lookup-messages says how many are decided")};
  constexpr std::chrono::seconds kToSendIt{30};
  return {.body_bytes = kMaxPostedMessageBytes,
          .request = kToSendIt,
          .place = std::move(place),
          .answer_later = [this, envelope = *std::move(envelope)](std::string body, HttpReply reply) {
            push([this, envelope, body = std::move(body), reply = std::move(reply)] {
              // There may be no memory for more than this.
              HttpAnswer answer = {.status = 500, .content_type = std::string(), .body = std::string()};
              try {
                answer = decide_posted(*parts_.get(), envelope, body);
              } catch (...) {
                log_exception(*log_, "at a message that was posted");
              }
              if (answer.status != 200) refused_.note_logged(answer.status);
              reply(std::move(answer));
            });
          }};
}

}  // namespace bloomgate
