#include "milter/brake/suspended_senders.hpp"

#include <algorithm>
#include <exception>

#include "filter/address/entry_forms.hpp"
#include "filter/base/printable.hpp"
#include "milter/learning/logger.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMuch = 1'000, kVeryMuch = 10'000;  // messages a day
constexpr std::uint64_t kCountedForEach = 1'000;
constexpr std::size_t kMostRemembered = 10'000;
constexpr auto kStopped = 1h;

bool holds(const std::optional<SuspendedSenders::Time>& until, SuspendedSenders::Time now) noexcept {
  return !until || now < *until;
}

bool is_suspended(const std::map<std::string, std::optional<SuspendedSenders::Time>, std::less<>>& until,
                  std::string_view entry, SuspendedSenders::Time now) {
  const auto found = until.find(entry);
  return found != until.end() && holds(found->second, now);
}

// No entry contains a line feed.
std::string key_of(std::string_view entry, std::string_view user) {
  return std::string(entry).append("\n").append(user);
}

// Whether `is_held` is true for one of the names, or for an entry that covers it: of its domain, of a domain above, or
// of a tree of mailing lists.
template <typename IsHeld>
bool is_covered(std::string_view name, IsHeld is_held) {
  if (name.empty()) return false;
  if (is_held(name)) return true;
  const bool is_list = name.starts_with(kMailingListPrefix);
  const std::size_t at = is_list ? kMailingListPrefix.size() - 1 : name.rfind('@');
  if (at == 0 || at == std::string_view::npos) return false;
  if (!is_list && is_held(name.substr(at))) return true;
  const std::string tree = is_list ? std::string(kMailingListPrefix) + "*." : "@.";
  for (std::string_view domain = name.substr(at + 1); !domain.empty();) {
    if (is_held(tree + std::string(domain))) return true;
    domain.remove_prefix(std::min(domain.find('.'), domain.size() - 1) + 1);
  }
  return false;
}

template <typename IsHeld>
bool is_any_covered(SuspendedSenders::Names names, IsHeld is_held) {
  return std::ranges::any_of(names, [&](std::string_view name) { return is_covered(name, is_held); });
}

}  // namespace

bool SuspendedSenders::has(Names names, Time now) const {
  const std::lock_guard lock(mutex_);
  if (until_.empty()) return false;
  return is_any_covered(names, [&](std::string_view entry) { return is_suspended(until_, entry, now); });
}

bool SuspendedSenders::is_any_for_user() const {
  const std::lock_guard lock(mutex_);
  return !until_for_user_.empty();
}

bool SuspendedSenders::has_for_user(Names names, std::span<const std::string> users, Time now) const {
  const std::lock_guard lock(mutex_);
  return is_any_covered(names, [&](std::string_view entry) {
    return std::ranges::any_of(
        users, [&](const std::string& user) { return is_suspended(until_for_user_, key_of(entry, user), now); });
  });
}

bool SuspendedSenders::has_for_some_user(Names names, Time now) const {
  const std::lock_guard lock(mutex_);
  return is_any_covered(names, [&](std::string_view entry) {
    const std::string of_entry = key_of(entry, "");
    auto each = until_for_user_.lower_bound(of_entry);
    while (each != until_for_user_.end() && each->first.starts_with(of_entry) && !holds(each->second, now)) ++each;
    return each != until_for_user_.end() && each->first.starts_with(of_entry);
  });
}

void SuspendedSenders::note_fault(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    if (fault_ == what) return;
    fault_ = what;
  }
  if (!what.empty()) log_->warn("suspend-file: {}: suspensions are not kept beyond this process", printable(what));
}

void SuspendedSenders::look() {
  const std::optional<FileStamp> there = FileStamp::of_path(path_);
  if (there == seen_) return;
  try {
    Until until, for_user;
    for (const Suspension& each : read_suspensions(path_)) {
      if (each.user.empty()) {
        until.emplace(each.entry, each.until);
      } else {
        for_user.emplace(key_of(each.entry, each.user), each.until);
      }
    }
    // Suspensions that could not be written are valid all the same.
    for (const auto& [entry, time] : unsaved_) until.emplace(entry, time);
    {
      const std::lock_guard lock(mutex_);
      until_ = std::move(until);
      until_for_user_ = std::move(for_user);
    }
    seen_ = there;
    if (unsaved_.empty()) note_fault("");
  } catch (const std::exception& error) {
    note_fault(error.what());
  }
}

void SuspendedSenders::stop(const std::string& why, Time now) {
  log_->warn(
      "suspend: {}, so no sender is suspended for an hour: see whether the checker is wrong; bloomgate-milter "
      "suspended list names those who are",
      why);
  const std::lock_guard lock(mutex_);
  stopped_until_ = now + kStopped;
}

bool SuspendedSenders::is_stopped(std::uint64_t counted, Time now) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_until_ && now < *stopped_until_ && now + kStopped >= *stopped_until_) return true;
    stopped_until_.reset();
  }
  const auto spam = std::ranges::count_if(last_, &Opinion::is_spam);
  if (static_cast<std::size_t>(spam) >= kSuspect) {
    stop(fmt::format("the checker calls {} of the last {} samples spam", spam, kLast), now);
    last_ = {};  // the next hour is judged separately
    return true;
  }
  if (now >= hour_began_ + 1h || now < hour_began_) {
    hour_began_ = now;
    in_hour_ = 0;
  }
  if (in_hour_ < std::max(kMostAnHour, counted / kCountedForEach)) return false;
  stop(fmt::format("{} senders were suspended within an hour", in_hour_), now);
  return true;
}

// For a sender that sends much, earlier spam is remembered for a day.
bool SuspendedSenders::is_enough(const std::string& sender, std::uint64_t a_day, Time now) {
  if (a_day < kMuch) return true;
  const auto is_old = [now](Time time) { return time + 24h <= now || time > now; };
  if (spam_of_.size() >= kMostRemembered) {
    std::erase_if(spam_of_, [&](const auto& each) { return is_old(each.second.back()); });
    if (spam_of_.size() >= kMostRemembered) return true;
  }
  std::vector<Time>& times = spam_of_[sender];
  std::erase_if(times, is_old);
  times.push_back(now);
  return times.size() >= (a_day < kVeryMuch ? 2 : 3);
}

// A sender with many samples counts only once among the last ones.
void SuspendedSenders::remember(const Opinion& sample) {
  const auto of_sender =
      std::ranges::find_if(last_, [&](const Opinion& each) { return each.names.sender == sample.names.sender; });
  if (of_sender != last_.end()) {
    of_sender->is_spam = sample.is_spam;
  } else {
    last_[next_] = sample;
    next_ = (next_ + 1) % kLast;
  }
}

void SuspendedSenders::take(const Opinion& opinion, std::uint64_t a_day, std::uint64_t counted, Time now) {
  if (opinion.names.sender.empty()) return;
  if (opinion.is_sample) remember(opinion);
  const std::string& sender = opinion.names.sender;
  const std::array<std::string_view, 2> names = {sender, opinion.names.address};
  if (!opinion.is_spam || has(names, now) || is_stopped(counted, now)) return;
  if (!is_enough(sender, a_day, now)) return;
  spam_of_.erase(sender);
  suspend(opinion, now);
}

// Suspends the address, and not at once everything that its entry lists.
void SuspendedSenders::suspend(const Opinion& opinion, Time now) {
  const std::string& who = opinion.names.who();
  std::vector<std::string> suspended;
  try {
    edit_suspensions(path_, now, [&](Suspensions& all) {
      for (const auto& [entry, until] : unsaved_) bloomgate::suspend(all, entry, "", until - kSuspendedFor);
      suspended = bloomgate::suspend(all, who, opinion.names.sender, now);
    });
    unsaved_.clear();
    look();
  } catch (const std::exception& error) {
    note_fault(error.what());
    suspended = {who};
    unsaved_[who] = now + kSuspendedFor;
    const std::lock_guard lock(mutex_);
    until_[who] = now + kSuspendedFor;
  }
  for (const std::string& entry : suspended) {
    log_->warn("suspended={} {}: bloomgate-milter suspended list says until when, and suspended clear ends it",
               printable(entry), opinion.message);
  }
  in_hour_ += suspended.size();
  const std::lock_guard lock(mutex_);
  suspensions_ += suspended.size();
}

SuspendedSenders::Status SuspendedSenders::status(Time now) const {
  const std::lock_guard lock(mutex_);
  const auto is_held = [now](const auto& each) { return holds(each.second, now); };
  return {.suspended = static_cast<std::uint64_t>(std::ranges::count_if(until_, is_held)),
          .for_user = static_cast<std::uint64_t>(std::ranges::count_if(until_for_user_, is_held)),
          .suspensions = suspensions_,
          .is_stopped = stopped_until_ && now < *stopped_until_,
          .fault = fault_};
}

}  // namespace bloomgate
