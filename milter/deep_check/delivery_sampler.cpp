#include "milter/deep_check/delivery_sampler.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/system/held_signals.hpp"
#include "milter/deep_check/checkers.hpp"

namespace bloomgate {
namespace {

using Clock = std::chrono::steady_clock;

// The places of `options` are for messages that wait for their answer.
AskChecker ask_with_a_place_of_its_own(DeepCheckOptions options) {
  options.connections = 1;
  return [checkers = std::make_shared<Checkers>(std::move(options))](
             const Envelope& envelope, const MessageText& text) { return checkers->ask(envelope, text); };
}

SampleAnswer answer_of(DeepVerdict verdict) noexcept {
  return verdict == DeepVerdict::spam || verdict == DeepVerdict::reject ? SampleAnswer::spam : SampleAnswer::ham;
}

}  // namespace

std::string_view sample_answer_name(SampleAnswer answer) noexcept {
  switch (answer) {
    case SampleAnswer::ham:
      return "ham";
    case SampleAnswer::spam:
      return "spam";
    case SampleAnswer::failed:
      return "failed";
    case SampleAnswer::dropped:
      break;
  }
  return "dropped";
}

// What waits for the checker. Its thread has a share of it.
class DeliverySampler::Queue {
 public:
  Queue(AskChecker ask, Report report, Limits limits)
      : ask_(std::move(ask)), report_(std::move(report)), limits_(limits) {}

  void push(DeliverySample sample) noexcept {
    const std::lock_guard lock(mutex_);
    if (is_stopped_) return;
    if (!has_room_for(sample)) {
      report_(SampleAnswer::dropped, {});
      return;
    }
    try {
      waiting_.push_back(std::move(sample));
    } catch (const std::bad_alloc&) {
      report_(SampleAnswer::dropped, {});
      return;
    }
    memory_bytes_ += memory_of(waiting_.back());
    text_bytes_ += waiting_.back().text.size();
    arrived_.notify_one();
  }

  void drop() noexcept {
    const std::lock_guard lock(mutex_);
    if (!is_stopped_) report_(SampleAnswer::dropped, {});
  }

  void stop() noexcept {
    // What it holds ends here, not with the thread: that may wait for a checker still when the log is gone.
    Report unused;
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    report_.swap(unused);
    waiting_.clear();
    arrived_.notify_one();
  }

  void run() noexcept {
    while (const std::optional<DeliverySample> sample = pop()) ask_about(*sample);
  }

 private:
  static std::size_t memory_of(const DeliverySample& sample) noexcept {
    std::size_t bytes = sizeof sample + sample.text.memory_held() + sample.who.capacity() + sample.why.capacity();
    for (const std::string& each : sample.envelope.recipients) {
      bytes += sizeof each + each.capacity();  // NOLINT(bugprone-sizeof-container): the object's own memory is meant
    }
    return bytes;
  }

  bool has_room_for(const DeliverySample& sample) const noexcept {
    if (waiting_.empty()) return true;
    return waiting_.size() < limits_.messages && memory_bytes_ + memory_of(sample) <= limits_.memory_bytes &&
           text_bytes_ + sample.text.size() <= limits_.text_bytes;
  }

  // Nothing at the end.
  std::optional<DeliverySample> pop() noexcept {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return is_stopped_ || !waiting_.empty(); });
    if (is_stopped_) return std::nullopt;
    std::optional<DeliverySample> first(std::move(waiting_.front()));
    waiting_.pop_front();
    memory_bytes_ -= memory_of(*first);
    text_bytes_ -= first->text.size();
    return first;
  }

  void ask_about(const DeliverySample& sample) noexcept {
    const Clock::time_point start = Clock::now();
    SampleAnswer answer = SampleAnswer::failed;
    std::string line;
    try {
      const auto took = [start] {
        return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
      };
      try {
        const DeepResult result = ask_(sample.envelope, sample.text);
        line = fmt::format("{} sample={} score={:.1f}/{:.1f} {} server={} check_ms={}", sample.who,
                           sample_answer_name(answer_of(result.verdict)), result.score, result.spam_threshold,
                           sample.why, printable_word(result.server, kMaxLoggedServerBytes), took());
        answer = answer_of(result.verdict);
      } catch (const std::exception& error) {
        line = fmt::format("{} sample=failed {} check_ms={} : {}", sample.who, sample.why, took(),
                           printable(error.what()));
      }
    } catch (const std::exception&) {
      // There is no memory to say more.
    }
    const std::lock_guard lock(mutex_);
    if (!is_stopped_) report_(answer, line);
  }

  const AskChecker ask_;
  Report report_;  // none once it is stopped
  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<DeliverySample> waiting_;
  std::size_t memory_bytes_ = 0;
  std::uint64_t text_bytes_ = 0;
  bool is_stopped_ = false;
};

DeliverySampler::DeliverySampler(const DeepCheckOptions& options, Report report)
    : DeliverySampler(options.sample_share, ask_with_a_place_of_its_own(options), std::move(report), Limits{}) {}

DeliverySampler::DeliverySampler(double share, AskChecker ask, Report report, Limits limits)
    : share_(share), queue_(std::make_shared<Queue>(std::move(ask), std::move(report), limits)) {
  try {
    const HeldSignals held;
    // It may wait for a checker when the sampler ends, and then ends with its share of the queue.
    std::thread([queue = queue_] { queue->run(); }).detach();
  } catch (const std::system_error& error) {
    throw BloomgateError(ErrorCode::no_system_resource,
                         std::string("deep-check-sample: no thread can be started: ") + error.what());
  }
}

DeliverySampler::~DeliverySampler() {
  stop();
}

bool DeliverySampler::draw() const noexcept {
  constexpr double kStep = 1.0 / static_cast<double>(std::uint64_t{1} << 53);
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof number)) return false;
  return static_cast<double>(number >> 11) * kStep < share_;
}

void DeliverySampler::offer(DeliverySample sample) noexcept {
  queue_->push(std::move(sample));
}

void DeliverySampler::drop() noexcept {
  queue_->drop();
}

void DeliverySampler::stop() noexcept {
  queue_->stop();
}

}  // namespace bloomgate
