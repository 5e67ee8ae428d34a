// Shows some of the delivered messages to a checker, to learn how many of them it calls spam. The mail server has
// already had its answer for such a message, and the checker's verdict does not change it.
//
// Session threads draw and offer messages. One thread asks the checker, one message after the other, and uses its own
// slot at the checker, so that no message that needs a real check has to wait for it. The queue is bounded in number,
// in memory and on disk: a message that does not fit is dropped and counted. Safe from any thread. Logs nothing.
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

// The outcome of a sample.
enum class SampleAnswer : std::uint8_t {
  ham,     // also a message that rspamd wants deferred
  spam,    // also a message that rspamd wants rejected
  failed,  // no checker has answered
  dropped  // the queue was full, or the text could not be kept: no checker was asked
};
inline constexpr std::size_t kSampleAnswers = 4;

// "ham", "spam", "failed", "dropped". Never fails.
std::string_view sample_answer_name(SampleAnswer answer) noexcept;

// A delivered message.
struct DeliverySample {
  Envelope envelope;
  MessageText text;
  std::string who;  // the sender's part of its line in the log: `queue_id=… sender=…`
  std::string why;  // why it was delivered: `identity=… whitelist=… header_from=…`
  // Called before the report if a checker has answered; may be empty, must not throw.
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

  // How much may wait in the queue. A message that alone exceeds a limit may wait if the queue is empty.
  struct Limits {
    std::size_t messages = 16;
    std::size_t memory_bytes = std::size_t{8} << 20;
    std::uint64_t text_bytes = std::uint64_t{64} << 20;  // in memory and on the disk
  };

  // Draws options.sample_share of the messages, and asks the checkers of the options. Throws std::bad_alloc,
  // BloomgateError{no_system_resource}.
  DeliverySampler(const DeepCheckOptions& options, Report report);

  // Gets the answers from `ask` instead.
  DeliverySampler(double share, AskChecker ask, Report report, Limits limits);

  // Calls stop().
  ~DeliverySampler();
  DeliverySampler(const DeliverySampler&) = delete;
  DeliverySampler& operator=(const DeliverySampler&) = delete;

  double share() const noexcept { return share_; }

  // Whether the next message is drawn. Uses the system's random numbers, so that no sender can predict it. If there are
  // no random numbers, the message is not drawn.
  bool draw() const noexcept;

  // Queues a delivered message; does not wait for a checker.
  void offer(DeliverySample sample) noexcept;

  // Counts a message that was drawn but cannot be offered.
  void drop() noexcept;

  // Drops the queue; after it has returned, nothing is reported any more. Waits for a report that is in progress, but
  // not for a checker: the thread ends when the checker has answered, or at the time-out.
  void stop() noexcept;

 private:
  class Queue;

  const double share_;
  const std::shared_ptr<Queue> queue_;  // shared with the thread, which may outlive the sampler
};

}  // namespace bloomgate
