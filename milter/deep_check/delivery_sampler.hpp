// Shows some of the delivered messages to a checker, to learn how many of them it calls spam. A message that is shown
// was answered already, and nothing of the answer comes back to it.
//
// Sessions draw and offer; one thread asks, one message after the other, with a place at the checker of its own, so
// that no message that is checked for its own sake waits for it. What waits is bounded in number, in memory and on the
// disk: a message for which there is no room is left out, and counted. Safe from any thread. Logs nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "config/deep_check_options.hpp"
#include "milter/deep_check/checkers.hpp"
#include "milter/message/envelope.hpp"
#include "milter/message/message_text.hpp"

namespace bloomgate {

// What became of a sample.
enum class SampleAnswer : std::uint8_t {
  ham,     // and what rspamd wants to be put off
  spam,    // and what rspamd wants to be rejected
  failed,  // no checker has answered
  dropped  // there was no room for it, or its text could not be kept: it was not asked about
};
inline constexpr std::size_t kSampleAnswers = 4;

// "ham", "spam", "failed", "dropped". Never fails.
std::string_view sample_answer_name(SampleAnswer answer) noexcept;

// A delivered message.
struct DeliverySample {
  Envelope envelope;
  MessageText text;
  std::string who;  // of its line in the log: `queue_id=… sender=…`
  std::string why;  // it was delivered: `identity=… whitelist=… header_from=…`
  // Called before the report where a checker has answered; may be empty, must not throw.
  std::function<void(bool is_spam)> on_answer = nullptr;
};

class DeliverySampler {
 public:
  // Called by the sampler's thread, or with `dropped` by a session's. `line` is for the log, printable ASCII:
  //
  //     queue_id=… sender=… sample=spam score=12.3/5.0 identity=… whitelist=… header_from=… server=… check_ms=42
  //
  // and for a sample that was dropped it is empty. Must not throw, nor call the sampler.
  using Report = std::function<void(SampleAnswer, std::string_view line)>;

  // What may wait. A message that is larger alone may wait alone.
  struct Limits {
    std::size_t messages = 16;
    std::size_t memory_bytes = std::size_t{8} << 20;
    std::uint64_t text_bytes = std::uint64_t{64} << 20;  // in memory and on the disk
  };

  // Draws options.sample_share of the messages, and asks the checkers of the options. Throws std::bad_alloc,
  // BloomgateError{no_system_resource}.
  DeliverySampler(const DeepCheckOptions& options, Report report);

  // With answers from elsewhere.
  DeliverySampler(double share, AskChecker ask, Report report, Limits limits);

  // As stop().
  ~DeliverySampler();
  DeliverySampler(const DeliverySampler&) = delete;
  DeliverySampler& operator=(const DeliverySampler&) = delete;

  double share() const noexcept { return share_; }

  // Whether a message is drawn. By random numbers of the system, so that no sender can know. If there are none, it is
  // not drawn.
  bool draw() const noexcept;

  // Takes a delivered message; waits for no checker.
  void offer(DeliverySample sample) noexcept;

  // One that was drawn cannot be offered.
  void drop() noexcept;

  // Forgets what waits, and reports nothing any more once it has returned. Waits for a report that is being made, but
  // not for a checker: the thread ends when that has answered, or at its time-out.
  void stop() noexcept;

 private:
  class Queue;

  const double share_;
  const std::shared_ptr<Queue> queue_;  // with the thread, which may outlive the sampler
};

}  // namespace bloomgate
