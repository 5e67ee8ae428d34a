#include "milter/learning/learner.hpp"

#include <algorithm>
#include <vector>

#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/system/held_signals.hpp"
#include "milter/learning/logger.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

// A healthy disk writes the pairs of a message to twenty recipients in a millisecond: the queue is for a disk that is
// slow for a while.
constexpr std::size_t kMostQueued = 10'000;
constexpr std::size_t kMostAtOnce = 1'000;
constexpr auto kBetweenPolls = 1s;
constexpr auto kBetweenTries = 5s;
constexpr std::uint64_t kExpiredAtOnce = 1'000;
constexpr std::size_t kMostLoginBytes = 255;
// Longer than any message is in progress.
constexpr std::chrono::days kForgetsAreKept{1};

KnownPairs::Day number_of(LearnedDay day) noexcept {
  return static_cast<KnownPairs::Day>(
      std::clamp<std::int64_t>(day.time_since_epoch().count(), 0, kLastLearnedDay.time_since_epoch().count()));
}

LearnedDay day_of(KnownPairs::Day number) noexcept {
  return LearnedDay(std::chrono::days(number));
}

// The name under which a client is counted. A client with an IPv6 address may also use every other address of its
// network (/64). No user has such a name.
std::string rate_name(const IpAddress& client) {
  const std::string_view bytes(reinterpret_cast<const char*>(client.bytes.data()), client.bytes.size());
  return "client " + std::string(is_ipv4(client) ? bytes : bytes.substr(0, 8));
}

void put(KnownPairs& known, const LearnedPair& pair) {
  known.put(pair.user, pair.correspondent, number_of(pair.last_use));
}

}  // namespace

LearnedDay utc_day() noexcept {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

Learner::Learner(LearnRules rules, std::shared_ptr<spdlog::logger> log, std::uint64_t seed, Today today)
    : log_(std::move(log)),
      seed_(seed),
      today_(today ? std::move(today) : Today(utc_day)),
      is_on_(rules.is_on()),
      hears_(rules.hears()),
      rules_(std::move(rules)),
      known_(std::make_shared<KnownPairs>(seed)),
      rates_(seed),
      exempt_rates_(seed),
      elsewhere_(log_) {}

Learner::~Learner() {
  stop();
}

void Learner::start(std::function<void()> on_change) {
  on_change_ = std::move(on_change);
  const HeldSignals held;
  thread_ = std::thread([this] { run(); });
}

void Learner::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wakeup_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Learner::set_rules(LearnRules rules) {
  {
    const std::lock_guard lock(mutex_);
    must_reopen_ = must_reopen_ || rules.path != rules_.path;
    is_on_ = rules.is_on();
    hears_ = rules.hears();
    has_new_rules_ = true;
    rules_ = std::move(rules);
  }
  wakeup_.notify_one();
}

LessonRules Learner::lesson_rules() const {
  const std::lock_guard lock(mutex_);
  return rules_.lesson;
}

KnownPairs::Day Learner::oldest_day() const {
  return number_of(rules_.first_kept_day(today_()));
}

template <typename Find>
bool Learner::is_kept(Find find) const noexcept {
  if (!may_know()) return false;
  std::shared_ptr<KnownPairs> known;
  KnownPairs::Day oldest = 0;
  {
    const std::lock_guard lock(mutex_);
    known = known_;
    oldest = oldest_day();
  }
  const auto is_recent = [&](const auto& from) {
    const std::optional<KnownPairs::Day> day = find(from);
    return day && *day >= oldest;
  };
  return is_recent(*known) || is_recent(elsewhere_);
}

bool Learner::is_learned(std::string_view user, std::string_view sender) const noexcept {
  return is_kept([&](const auto& known) { return known.find(user, sender); });
}

bool Learner::has_sender_domain(std::string_view domain) const noexcept {
  return is_kept([&](const auto& known) { return known.find_domain(domain); });
}

// Requires the mutex. From now on the pair is in memory.
bool Learner::enqueue(Contact contact) {
  if (!status_.fault.empty()) {
    ++status_.not_stored;
    return false;
  }
  if (queue_.size() >= kMostQueued) {
    ++status_.no_room;
    return false;
  }
  known_->put(contact.user, contact.correspondent, number_of(today_()));
  queue_.push_back(std::move(contact));
  return true;
}

LearnedBegin Learner::begin_message() const noexcept {
  return {.forgets = known_forgets_.load(std::memory_order_relaxed), .time = boot_time()};
}

// Requires the mutex. The client's rate is checked first, so that a client cannot use up the rates of more users than
// it may add entries. A user's rate is separate from that of the login with the same name: a client that names another
// user does not affect that user's own mail.
bool Learner::may_learn_another(const Lesson& lesson, std::string_view who, Excess& of_login, Excess& of_client) {
  const Clock::time_point now = Clock::now();
  if (lesson.exempt_client) {
    const std::string name = rate_name(*lesson.exempt_client);
    const HourlyRates::Answer answer = exempt_rates_.take(name, of_client.per_hour, now);
    if (answer != HourlyRates::Answer::granted) {
      of_client.add(answer);
      ++status_.over_exempt_rate;
      return false;
    }
  }
  HourlyRates& rates = lesson.exempt_client ? exempt_rates_ : rates_;
  const HourlyRates::Answer answer = rates.take(who, of_login.per_hour, now);
  if (answer == HourlyRates::Answer::granted) return true;
  of_login.add(answer);
  ++status_.over_rate;
  return false;
}

void Learner::learn(const Lesson& lesson, std::string_view login, const LearnedBegin& began,
                    std::string_view queue_id) {
  if (!is_on() || lesson.is_empty()) return;
  const std::string_view who = login.empty() ? std::string_view(lesson.user) : login;
  Excess of_login = {.rate = "learn-rate", .question = "is somebody else using the account?"};
  Excess of_client = {.rate = "learn-exempt-rate", .question = "does a form or a program there write to anybody?"};
  {
    const std::lock_guard lock(mutex_);
    of_login.per_hour = rules_.per_hour;
    of_client.per_hour = rules_.exempt_per_hour;
    for (const std::string& correspondent : lesson.correspondents) {
      if (forgets_.name_either(lesson.user, correspondent, began)) continue;
      const std::optional<KnownPairs::Day> day = known_->find(lesson.user, correspondent);
      // Once a day is enough, and does not count for any rate.
      if (day && *day >= number_of(today_())) continue;
      const bool is_new = !day || *day < oldest_day();
      if (is_new && !may_learn_another(lesson, who, of_login, of_client)) continue;
      if (!enqueue({lesson.user, correspondent, false, began})) break;
    }
  }
  wakeup_.notify_one();
  if (of_login.left_out != 0) log_excess(of_login, queue_id, "login=" + printable_word(who, kMostLoginBytes));
  if (of_client.left_out != 0) log_excess(of_client, queue_id, "client=" + to_string(*lesson.exempt_client));
}

// Every message is logged; once within the hour the line also says what to check.
void Learner::log_excess(const Excess& excess, std::string_view queue_id, std::string_view who) const {
  if (!excess.is_first) {
    log_->info("learning: queue_id={} {} not_learned={} ({})", queue_id, who, excess.left_out, excess.rate);
    return;
  }
  log_->warn(
      "learning: queue_id={} {} has had {} new entries learned within an hour ({}), no more until that is over; {}",
      queue_id, who, excess.per_hour, excess.rate, excess.question);
}

void Learner::renew(std::string_view user, std::string_view sender) {
  if (!is_on()) return;
  {
    const std::lock_guard lock(mutex_);
    const KnownPairs::Day today = number_of(today_());
    const std::optional<KnownPairs::Day> day = known_->find(user, sender);
    if (day >= today) return;
    const bool is_kept_here = day >= oldest_day();
    // Another host has learned the pair, and does not learn about this message.
    if (!is_kept_here && elsewhere_.find(user, sender).value_or(today) >= today) return;
    enqueue({.user = std::string(user),
             .correspondent = std::string(sender),
             .is_renewal = is_kept_here,
             .began = begin_message()});
  }
  wakeup_.notify_one();
}

Learner::Status Learner::status() const {
  const std::lock_guard lock(mutex_);
  Status status = status_;
  status.is_on = is_on();
  status.pairs = known_->size();
  status.bytes = known_->bytes();
  status.heard = elsewhere_.status();
  return status;
}

void Learner::run() {
  for (bool is_last = false; !is_last;) {
    wait_for_work();
    {
      const std::lock_guard lock(mutex_);
      is_last = is_stopping_;
    }
    try {
      work();
    } catch (const std::exception& error) {
      note_fault(error.what());
    }
  }
  file_.reset();
}

void Learner::wait_for_work() {
  std::unique_lock lock(mutex_);
  if (!rules_.is_on() && !rules_.hears()) {
    wakeup_.wait(lock, [this] { return is_stopping_ || has_new_rules_; });
  }
  wakeup_.wait_for(lock, kBetweenPolls, [this] {
    return is_stopping_ || has_new_rules_ || (status_.is_ready && !queue_.empty()) ||
           (rules_.is_on() && !status_.is_ready && status_.fault.empty());
  });
}

void Learner::work() {
  bool must_reopen = false;
  bool is_on = false;
  std::optional<ElsewhereRules> elsewhere;
  {
    const std::lock_guard lock(mutex_);
    must_reopen = std::exchange(must_reopen_, false);
    if (std::exchange(has_new_rules_, false)) elsewhere = rules_.elsewhere;
    is_on = rules_.is_on();
  }
  if (elsewhere) elsewhere_.set_rules(*elsewhere);
  if (must_reopen || !is_on) turn_off();
  if (is_on) use_file();
  if (elsewhere_.read_news(std::chrono::system_clock::now()) && on_change_) on_change_();
  if (file_ != nullptr && elsewhere_.forget_in(*file_, today_())) read_all();
}

// Called first: loading what others have learned may take longer.
void Learner::use_file() {
  if (file_ == nullptr) {
    if (Clock::now() < retry_at_) return;
    open();
  }
  file_->set_rehash(elsewhere_.rehash());
  read_news();
  write_queue();
  expire();
}

// The queue belongs to the previous file.
void Learner::turn_off() {
  if (file_ != nullptr) write_queue();
  file_.reset();
  retry_at_ = Clock::time_point::min();
  {
    const std::lock_guard lock(mutex_);
    queue_.clear();
    known_ = std::make_shared<KnownPairs>(seed_);
    status_.is_ready = false;
    status_.fault.clear();
  }
  use_.reset();
}

void Learner::open() {
  std::string path;
  bool is_again = false;
  {
    const std::lock_guard lock(mutex_);
    path = rules_.path;
    is_again = !status_.fault.empty();
  }
  retry_at_ = Clock::now() + kBetweenTries;
  file_ = std::make_unique<LearnedFile>(path, LearnedFile::Access::create);
  file_->set_rehash(elsewhere_.rehash());
  // A full or read-only disk is noticed now, and not after a long read or at the next message.
  file_->record({}, today_());
  // The file may differ from the previous one. Until all of it is read, no forget in it is applied.
  if (!use_) use_.emplace(path);
  use_->set_applied(0);
  expired_until_ = 0;
  read_forgets();  // for messages that begin during the read
  read_all();
  std::size_t pairs = 0;
  {
    const std::lock_guard lock(mutex_);
    status_.is_ready = true;
    status_.fault.clear();
    pairs = known_->size();
  }
  log_->info("learning: {} with {}{}", printable(path), format_counted(pairs, "pair", "pairs"),
             is_again ? ", learns again" : "");
  if (is_again && on_change_) on_change_();
}

// Reads from the beginning, into a new object, which does not contain forgotten people. The pairs in the queue are
// learned nevertheless, unless their message began before the forget.
void Learner::read_all() {
  auto known = std::make_shared<KnownPairs>(seed_);
  version_ = file_->data_version();
  seen_ = file_->for_each_since(0, [&](const LearnedPair& pair) { put(*known, pair); });
  // After the pairs: otherwise a forget in between would stay unknown.
  read_forgets();
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(queue_, [&](const Contact& contact) {
      return contact.began && forgets_.name_either(contact.user, contact.correspondent, *contact.began);
    });
    for (const Contact& contact : queue_) {
      const bool was_forgotten = contact.is_renewal && !known->find(contact.user, contact.correspondent);
      if (!was_forgotten) known->put(contact.user, contact.correspondent, number_of(today_()));
    }
    known_ = std::move(known);
  }
  use_->set_applied(seen_.forgets);
}

void Learner::read_forgets() {
  Forgets forgets = file_->forgets();
  elsewhere_.set_own_forgets(*file_, forgets);
  const std::lock_guard lock(mutex_);
  forgets_ = std::move(forgets);
  known_forgets_ = forgets_.count();
}

// Reads what others have changed. The version is read first, so that a change in between is noticed the next time.
void Learner::read_news() {
  const std::int64_t version = file_->data_version();
  if (version == version_) return;
  if (file_->changes().forgets != seen_.forgets) return read_all();
  std::shared_ptr<KnownPairs> known;
  {
    const std::lock_guard lock(mutex_);
    known = known_;
  }
  const LearnedFile::Changes changes =
      file_->for_each_since(seen_.last, [&](const LearnedPair& pair) { put(*known, pair); });
  version_ = version;
  // Something was forgotten during this read: the next call reads everything.
  seen_.last = changes.last;
}

// Contacts stay in the queue until they are on the disk.
void Learner::write_queue() {
  for (;;) {
    std::vector<Contact> contacts;
    {
      const std::lock_guard lock(mutex_);
      const std::size_t count = std::min(queue_.size(), kMostAtOnce);
      contacts.assign(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (contacts.empty()) return;
    const LearnedFile::Recorded recorded = file_->record(contacts, today_());
    {
      const std::lock_guard lock(mutex_);
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(contacts.size()));
      status_.learned += recorded.added;
      status_.renewed += recorded.renewed;
      status_.no_room += recorded.no_room;
    }
    // If no other program has changed the file, all its new content is known.
    const LearnedFile::Changes changes = file_->changes();
    if (file_->data_version() == version_) seen_ = changes;
  }
}

// Removes expired pairs in small steps, so that no session has to wait for it. Look-ups do not find them anyway.
void Learner::expire() {
  KnownPairs::Day oldest = 0;
  std::shared_ptr<KnownPairs> known;
  {
    const std::lock_guard lock(mutex_);
    oldest = oldest_day();
    known = known_;
  }
  if (expired_until_ >= oldest) return;
  if (file_->expire(day_of(oldest), kExpiredAtOnce) == kExpiredAtOnce) return;
  // Other hosts may have what was forgotten here for as long as they keep it.
  file_->drop_forgets(hears_ ? day_of(oldest) : today_() - kForgetsAreKept, day_of(oldest));
  known->expire(oldest);
  expired_until_ = oldest;
}

// The file is opened again later, since the fault may have been fixed by then: there may be a new file.
void Learner::note_fault(const std::string& what) {
  file_.reset();
  retry_at_ = Clock::now() + kBetweenTries;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    status_.is_ready = false;
    is_new = status_.fault != what;
    status_.fault = what;
  }
  if (!is_new) return;
  log_->error("learning: {}; nothing is learned until it can be used; mail is not affected", printable(what));
  if (on_change_) on_change_();
}

}  // namespace bloomgate
