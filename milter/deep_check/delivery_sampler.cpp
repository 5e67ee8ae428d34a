#include "milter/deep_check/delivery_sampler.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "config/enum_words.hpp"
#include "filter/base/bounded_queue.hpp"
#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/log/line_keys.hpp"
#include "filter/system/held_signals.hpp"
#include "milter/deep_check/checkers.hpp"

namespace bloomgate {
namespace {

using Clock = std::chrono::steady_clock;

// The slots of `options` are for messages that wait for their answer, so the sampler gets its own slot.
AskChecker ask_with_a_place_of_its_own(DeepCheckOptions options) {
  options.connections = 1;
  return ask_checkers(std::move(options));
}

SampleAnswer answer_of(DeepVerdict verdict) noexcept {
  return is_spam(verdict) ? SampleAnswer::spam : SampleAnswer::ham;
}

// The words of a sample's line in the log. `result` is null if no checker has answered.
std::string line_of(const DeliverySample& sample, const DeepResult* result, Clock::time_point start) {
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  std::string line = sample.who;
  add_word(line, "sample", sample_answer_name(result == nullptr ? SampleAnswer::failed : answer_of(result->verdict)));
  if (result != nullptr) add_word(line, "score", fmt::format("{:.1f}/{:.1f}", result->score, result->spam_threshold));
  line.append(" ").append(sample.why);
  if (result != nullptr) add_word(line, "server", printable_word(result->server, kMaxLoggedServerBytes));
  add_word(line, "check_ms", fmt::to_string(took.count()));
  return line;
}

// A message that alone exceeds the limits may wait if the queue is empty.
class SampleRoom : public RoomForItems<DeliverySample> {
 public:
  explicit SampleRoom(const DeliverySampler::Limits& limits) noexcept
      : RoomForItems(limits.messages), limits_(limits) {}

  bool has_room_for(const DeliverySample& sample, std::size_t waiting) const noexcept {
    return waiting == 0 ||
           (RoomForItems::has_room_for(sample, waiting) && memory_bytes_ + memory_of(sample) <= limits_.memory_bytes &&
            text_bytes_ + sample.text.size() <= limits_.text_bytes);
  }
  void note_added(const DeliverySample& sample) noexcept {
    memory_bytes_ += memory_of(sample);
    text_bytes_ += sample.text.size();
  }
  void note_taken(const DeliverySample& sample) noexcept {
    memory_bytes_ -= memory_of(sample);
    text_bytes_ -= sample.text.size();
  }

 private:
  static std::size_t memory_of(const DeliverySample& sample) noexcept {
    std::size_t bytes = sizeof sample + sample.text.memory_held() + sample.who.capacity() + sample.why.capacity();
    for (const std::string& each : sample.envelope.recipients) {
      bytes += sizeof each + each.capacity();  // NOLINT(bugprone-sizeof-container): the object's own memory is meant
    }
    return bytes;
  }

  const DeliverySampler::Limits limits_;
  std::size_t memory_bytes_ = 0;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace

std::string_view sample_answer_name(SampleAnswer answer) noexcept {
  using enum SampleAnswer;
  static constexpr auto kWords =
      enum_words<SampleAnswer>({{ham, "ham"}, {spam, "spam"}, {failed, "failed"}, {dropped, "dropped"}});
  static_assert(kWords.size() == kSampleAnswers);
  return word_of(kWords, answer);
}

// The messages that wait for the checker. The thread shares ownership.
class DeliverySampler::Queue {
 public:
  Queue(AskChecker ask, Report report, const Limits& limits)
      : ask_(std::move(ask)), report_(std::move(report)), waiting_(SampleRoom(limits)) {}

  void push(DeliverySample sample) noexcept {
    if (waiting_.offer(std::move(sample)) == Offer::no_room) drop();
  }

  void drop() noexcept { report(SampleAnswer::dropped, {}); }

  void stop() noexcept {
    // The report's captures are destroyed here, not with the thread, which may still wait for a checker after the log
    // is gone.
    Report unused;
    {
      const std::lock_guard lock(mutex_);
      report_.swap(unused);
    }
    waiting_.drop();
  }

  void run() noexcept {
    waiting_.work_off([this](const DeliverySample& sample) { ask_about(sample); });
  }

 private:
  void report(SampleAnswer answer, std::string_view line) noexcept {
    const std::lock_guard lock(mutex_);
    if (report_) report_(answer, line);
  }

  void ask_about(const DeliverySample& sample) noexcept {
    const Clock::time_point start = Clock::now();
    SampleAnswer answer = SampleAnswer::failed;
    std::string line;
    try {
      try {
        const DeepResult result = ask_(sample.envelope, sample.text);
        line = line_of(sample, &result, start);
        answer = answer_of(result.verdict);
        if (sample.on_answer) sample.on_answer(answer == SampleAnswer::spam);
      } catch (const std::exception& error) {
        line = line_of(sample, nullptr, start) + " : " + printable(error.what());
      }
    } catch (const std::exception&) {
      // There is no memory to say more.
    }
    report(answer, line);
  }

  const AskChecker ask_;
  std::mutex mutex_;  // protects the report
  Report report_;     // null once stopped
  BoundedQueue<DeliverySample, SampleRoom> waiting_;
};

DeliverySampler::DeliverySampler(const DeepCheckOptions& options, Report report)
    : DeliverySampler(options.sample_share, ask_with_a_place_of_its_own(options), std::move(report), Limits{}) {}

DeliverySampler::DeliverySampler(double share, AskChecker ask, Report report, Limits limits)
    : share_(share), queue_(std::make_shared<Queue>(std::move(ask), std::move(report), limits)) {
  try {
    const HeldSignals held;
    // The thread may wait for a checker when the sampler ends; it then ends by itself, since it shares ownership of the
    // queue.
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
