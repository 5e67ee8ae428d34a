#include "milter/brake/brake.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/system/held_signals.hpp"
#include "milter/brake/counted_sender.hpp"
#include "milter/learning/logger.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenSaves = 1h;
constexpr auto kBetweenLooks = 1s;
constexpr std::size_t kMostWaiting = 1000;
constexpr HalfHours kHalfHoursOfDay = 48;
// As long as a habit lasts.
constexpr HalfHours kKept = 6 * kHalfHoursOfWeek;
// As many recipients as are kept.
constexpr std::size_t kTooMany = 1000;

HalfHours half_hours_of(std::chrono::system_clock::time_point time) noexcept {
  const auto minutes = std::chrono::floor<std::chrono::minutes>(time).time_since_epoch().count();
  return static_cast<HalfHours>(std::clamp<std::int64_t>(minutes / 30, 0, UINT32_MAX));
}

// 0 stands for no sender.
KeyHash hash_of(std::string_view text, std::uint64_t seed) noexcept {
  return std::max<KeyHash>(hash_key(text, seed), 1);
}

}  // namespace

Brake::Brake(BrakeRules rules, std::shared_ptr<spdlog::logger> log, Now now)
    : log_(std::move(log)),
      now_(now ? std::move(now) : Now(SystemClock::now)),
      path_(rules.path),
      suspended_(rules.suspensions_path, log_) {
  set_rules(std::move(rules));
}

Brake::~Brake() {
  stop();
}

void Brake::set_rules(BrakeRules rules) {
  most_messages_ = rules.floor.messages;
  most_recipients_ = rules.floor.recipients;
  observed_days_ = static_cast<std::uint32_t>(rules.observe.count());
  // Nothing was counted while the brake was off.
  if (rules.is_on() && !is_on_ && began_ != 0) began_ = now();
  is_on_ = rules.is_on();
  may_suspend_ = rules.suspends;
}

void Brake::begin() {
  began_ = now();
  seed_ = random_seed();
  load();
  work_off();
}

void Brake::start() {
  begin();
  const HeldSignals held;
  thread_ = std::thread([this] { run(); });
}

void Brake::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wakeup_.notify_one();
  if (thread_.joinable()) thread_.join();
}

HalfHours Brake::now() const {
  return half_hours_of(now_());
}

void Brake::note_fault(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    if (fault_ == what) return;
    fault_ = what;
  }
  if (what.empty()) {
    log_->info("burst-file: '{}' is kept again", printable(path_));
  } else {
    log_->warn("burst-file: {}: a restart loses what senders usually send", printable(what));
  }
}

// A damaged file stays unchanged, so that a person can examine it. Without habits each sender is held to the floor,
// which is the safe side. A file that belongs to another user or was written by another version is no sign of damage:
// then habits are learned again.
void Brake::load() {
  try {
    const std::optional<CountsOrigin> origin = read_counts(path_, senders_, began_);
    if (!origin) return;
    seed_ = origin->seed;
    // If the clock was ahead once, the brake must not observe for years.
    began_ = std::min(origin->began, began_.load());
  } catch (const BloomgateError& error) {
    note_fault(error.what());
    may_save_ = error.code() == ErrorCode::unsupported_version;
    if (error.code() == ErrorCode::unsupported_version || error.code() == ErrorCode::cannot_open) return;
    is_damaged_ = true;
    log_->warn("burst-file: no sender has a habit, so each is held to burst-limit; remove '{}' to observe anew",
               printable(path_));
  }
}

void Brake::save() {
  if (!is_on() || !may_save_) return;
  try {
    const HalfHours then = now();
    write_counts(path_, {.seed = seed_, .began = began_}, senders_, then > kKept ? then - kKept : 0);
    note_fault("");
  } catch (const std::exception& error) {
    note_fault(error.what());
  }
}

// The first time, it saves at once, so that an unwritable file is reported.
void Brake::run() {
  auto save_at = std::chrono::steady_clock::now();
  for (bool is_stopping = false; !is_stopping;) {
    if (std::chrono::steady_clock::now() >= save_at) {
      save();
      save_at = std::chrono::steady_clock::now() + kBetweenSaves;
    }
    work_off_guarded();
    std::unique_lock lock(mutex_);
    wakeup_.wait_for(lock, kBetweenLooks, [this] { return is_stopping_ || !told_.empty(); });
    is_stopping = is_stopping_;
  }
  work_off_guarded();
  save();
}

void Brake::work_off_guarded() noexcept {
  try {
    work_off();
  } catch (const std::exception& error) {
    log_->error("internal error while suspending senders: {}", printable(error.what()));
  }
}

std::chrono::sys_seconds Brake::seconds() const {
  return std::chrono::floor<std::chrono::seconds>(now_());
}

void Brake::tell(SuspendedSenders::Opinion opinion) {
  if (!may_suspend()) return;
  {
    const std::lock_guard lock(mutex_);
    if (told_.size() < kMostWaiting) told_.push_back(std::move(opinion));
  }
  wakeup_.notify_one();
}

void Brake::work_off() {
  const std::lock_guard working(working_off_);
  if (may_suspend()) suspended_.look();
  std::vector<SuspendedSenders::Opinion> told;
  {
    const std::lock_guard lock(mutex_);
    told.swap(told_);
  }
  if (told.empty()) return;
  const HalfHours at = now();
  const std::uint64_t counted = senders_.size();
  for (const SuspendedSenders::Opinion& each : told) {
    const std::uint64_t a_day = senders_.visit_known(hash_of(each.names.sender, seed_),
                                                     [at](const SenderCounts& counts) { return counts.weight(at); });
    suspended_.take(each, a_day, counted, seconds());
  }
}

bool Brake::is_observing(HalfHours now) const noexcept {
  return !is_damaged_ && now - std::min(now, began_.load()) < observed_days_ * kHalfHoursOfDay;
}

SenderCounts::Rules Brake::rules_of(bool is_shared, HalfHours now) const {
  return {.floor = {most_messages_, most_recipients_}, .has_floor = !is_shared, .is_observing = is_observing(now)};
}

// If there are too many recipients to be known, each unknown one counts as a new recipient.
std::vector<std::uint64_t> Brake::hashes_of(const CountedMessage& message) {
  std::vector<std::uint64_t> hashes;
  for (const std::string_view path : message.recipients) {
    hashes.push_back(hash_key(counted_recipient(path, message.recipient_delimiter), seed_));
  }
  const std::size_t unknown = message.has_too_many_recipients ? kTooMany : 0;
  for (std::size_t i = 0; i < unknown; ++i) {
    const std::uint64_t number = ++unknown_recipients_;
    hashes.push_back(hash_key({reinterpret_cast<const char*>(&number), sizeof number}, seed_));
  }
  return hashes;
}

// A suspension for one user must not delay mail to others. A question without a recipient is about all users; a
// recipient that may be any user is that one.
bool Brake::is_suspended(const CountedMessage& message) const {
  if (!may_suspend()) return false;
  const std::array names = {message.sender, message.address, message.also[0], message.also[1]};
  const std::chrono::sys_seconds now = seconds();
  if (suspended_.has(names, now)) return true;
  if (!suspended_.is_any_for_user()) return false;
  const CountedUsers users = users_of(message.recipients, message.has_too_many_recipients, message.recipient_delimiter);
  return suspended_.has_for_user(names, users.names, now) ||
         (!users.are_all_known && suspended_.has_for_some_user(names, now));
}

Hold Brake::count(const CountedMessage& message) {
  if (is_suspended(message)) return Hold::suspended;
  if (!is_on()) return Hold::none;
  const HalfHours at = now();
  const SenderCounts::Rules rules = rules_of(message.is_shared, at);
  const KeyHash key = hash_of(message.sender, seed_);
  std::uint32_t copies = 0;
  if (!message.message_id.empty()) {
    const KeyHash copied = hash_of(message.message_id, key);
    const std::lock_guard lock(mutex_);
    copies = replays_.count(copied, at);
  }
  const std::vector<std::uint64_t> recipients = hashes_of(message);
  const Hold hold = senders_.visit(key, at, [&](SenderCounts& counts) {
    // One copy is always allowed, so most messages need only the count.
    const bool is_replay = copies > 1 && copies > counts.most_copies(at, rules);
    // Messages that others send again are not the sender's doing.
    if (is_replay && !rules.is_observing) return Hold::replay;
    const bool is_burst = counts.count(at, recipients, rules);
    return is_replay ? Hold::replay : is_burst ? Hold::burst : Hold::none;
  });
  if (hold == Hold::none) return hold;
  ++(rules.is_observing ? noticed_ : held_);
  return rules.is_observing ? Hold::none : hold;
}

Hold Brake::state_of(const CountedMessage& message) const {
  if (is_suspended(message)) return Hold::suspended;
  if (!is_on()) return Hold::none;
  const HalfHours at = now();
  const SenderCounts::Rules rules = rules_of(message.is_shared, at);
  if (rules.is_observing) return Hold::none;
  const bool is_over = senders_.visit_known(hash_of(message.sender, seed_),
                                            [&](const SenderCounts& counts) { return counts.is_over(at, rules); });
  return is_over ? Hold::burst : Hold::none;
}

Brake::Status Brake::status() const {
  Status status = {.is_on = is_on(),
                   .senders = senders_.size(),
                   .bytes = senders_.memory_bytes(),
                   .held = held_,
                   .noticed = noticed_};
  if (status.is_on && is_observing(now())) {
    const std::chrono::minutes until(30 * (std::int64_t{began_} + observed_days_ * kHalfHoursOfDay));
    status.observes_until = SystemClock::time_point(until);
  }
  if (may_suspend()) status.suspended = suspended_.status(seconds());
  const std::lock_guard lock(mutex_);
  status.fault = fault_;
  return status;
}

}  // namespace bloomgate
