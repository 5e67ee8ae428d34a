#include "milter/monitoring/tally.hpp"

#include <algorithm>

#include "milter/lists/whitelist_files.hpp"

namespace bloomgate {
namespace {

// From a page in memory to a disk that hangs, or a slow checker.
constexpr double kDecisionBounds[] = {1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 1e-3, 1e-2, 1e-1, 1};
constexpr double kConfirmationBounds[] = {1e-6, 5e-6, 2.5e-5, 1e-4, 5e-4, 2.5e-3, 1e-2, 5e-2, 0.25, 1, 2};
constexpr double kDeepCheckBounds[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
// From libunbound's cache to the longest usual dns-timeout.
constexpr double kKeyLookupBounds[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};

constexpr std::size_t index_of(auto enumerator) noexcept {
  return static_cast<std::size_t>(enumerator);
}

constexpr std::size_t kFailed = 4;  // after the four of DeepVerdict

constexpr double kNanosecondsPerSecond = 1e9;
constexpr double kLongestSeconds = 1e6;  // eleven days: a longer time is a fault of a clock

}  // namespace

void TimeHistogram::note(double seconds) noexcept {
  const double time = seconds > 0 ? std::min(seconds, kLongestSeconds) : 0;
  const auto bound = std::ranges::lower_bound(bounds_, time);
  counts_[static_cast<std::size_t>(bound - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_nanoseconds_.fetch_add(static_cast<std::uint64_t>(time * kNanosecondsPerSecond), std::memory_order_relaxed);
}

TimeHistogram::Reading TimeHistogram::read() const {
  Reading reading;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) {
    count += counts_[i].load(std::memory_order_relaxed);
    reading.cumulative.push_back(count);
  }
  reading.sum_seconds = static_cast<double>(sum_nanoseconds_.load(std::memory_order_relaxed)) / kNanosecondsPerSecond;
  return reading;
}

Tally::Tally()
    : decision_times_(kDecisionBounds),
      confirmation_times_(kConfirmationBounds),
      deep_check_times_(kDeepCheckBounds),
      key_lookup_times_(kKeyLookupBounds) {
  names_.back().name.append(kOtherNames);
}

void Tally::note_message(const Decision& decision, double seconds) noexcept {
  const std::size_t cell = (index_of(decision.verdict) * kReasonCount + index_of(decision.reason)) * kIdentities +
                           index_of(decision.identity);
  // Layers come and go, and their counts stay with their whitelist.
  add(of(configured_name(decision.list.view())).messages[cell]);
  if (decision.signature) add(signatures_[index_of(*decision.signature)]);
  if (!decision.child_signer.is_none()) add(child_signed_);
  if (decision.draws.look_ups != 0) add(look_ups_, decision.draws.look_ups);
  if (decision.draws.hits != 0) add(hits_, decision.draws.hits);
  decision_times_.note(seconds);
}

void Tally::note_confirmation(std::string_view whitelist, Confirmation answer, double seconds) noexcept {
  add(of(whitelist).confirmations[index_of(answer)]);
  confirmation_times_.note(seconds);
}

void Tally::note_deep_check(const DeepOutcome& outcome) noexcept {
  const std::size_t answer = outcome.verdict ? index_of(*outcome.verdict) : kFailed;
  add(deep_checks_[answer * kActions + index_of(outcome.action)]);
  deep_check_times_.note(std::chrono::duration<double>(outcome.took).count());
}

void Tally::note_key_lookup(TxtStatus status, double seconds) noexcept {
  add(key_lookups_[index_of(status)]);
  key_lookup_times_.note(seconds);
}

void Tally::note_refused_post(unsigned status) noexcept {
  add(refused_posts_[index_of_status(status)]);
}

std::size_t Tally::index_of_status(unsigned status) noexcept {
  const auto found = std::ranges::find(kPostStatuses, status);
  return static_cast<std::size_t>((found == kPostStatuses.end() ? std::ranges::find(kPostStatuses, 500U) : found) -
                                  kPostStatuses.begin());
}

Outcome outcome_of(Verdict verdict, Reason reason) noexcept {
  if (is_exempt(reason)) return Outcome::exempt;
  return verdict == Verdict::deliver ? Outcome::deliver : Outcome::check;
}

Tally::OfName* Tally::find(std::string_view name) noexcept {
  const std::size_t in_use = names_in_use_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < in_use; ++i) {
    if (names_[i].name.view() == name) return &names_[i];
  }
  return nullptr;
}

Tally::OfName& Tally::of(std::string_view name) noexcept {
  if (OfName* const found = find(name)) return *found;
  const std::lock_guard lock(new_name_);
  if (OfName* const found = find(name)) return *found;
  const std::size_t in_use = names_in_use_.load(std::memory_order_relaxed);
  if (in_use > kMostNames) return names_.back();
  names_[in_use].name.append(name);
  names_in_use_.store(in_use + 1, std::memory_order_release);
  return names_[in_use];
}

std::vector<Tally::Messages> Tally::messages() const {
  std::vector<Messages> all;
  const std::size_t in_use = names_in_use_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i >= in_use && i + 1 != names_.size()) continue;
    for (std::size_t cell = 0; cell < names_[i].messages.size(); ++cell) {
      const std::uint64_t count = read(names_[i].messages[cell]);
      if (count == 0) continue;
      const std::size_t reason = cell / kIdentities;
      all.push_back({static_cast<Verdict>(reason / kReasonCount), static_cast<Reason>(reason % kReasonCount),
                     static_cast<IdentityKind>(cell % kIdentities), std::string(names_[i].name.view()), count});
    }
  }
  return all;
}

std::vector<Tally::Confirmations> Tally::confirmations() const {
  std::vector<Confirmations> all;
  const std::size_t in_use = names_in_use_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i >= in_use && i + 1 != names_.size()) continue;
    for (std::size_t answer = 0; answer < kConfirmations; ++answer) {
      const std::uint64_t count = read(names_[i].confirmations[answer]);
      if (count == 0) continue;
      all.push_back({std::string(names_[i].name.view()), static_cast<Confirmation>(answer), count});
    }
  }
  return all;
}

std::vector<Tally::DeepChecks> Tally::deep_checks() const {
  std::vector<DeepChecks> all;
  for (std::size_t cell = 0; cell < deep_checks_.size(); ++cell) {
    const std::uint64_t count = read(deep_checks_[cell]);
    if (count == 0) continue;
    const std::size_t answer = cell / kActions;
    all.push_back({answer == kFailed ? "failed" : deep_verdict_name(static_cast<DeepVerdict>(answer)),
                   static_cast<SpamAction>(cell % kActions), count});
  }
  return all;
}

std::uint64_t Tally::messages(Outcome outcome) const noexcept {
  if (outcome == Outcome::refuse) return read(refusals_);
  std::uint64_t all = 0;
  for (const OfName& name : names_) {
    for (std::size_t cell = 0; cell < name.messages.size(); ++cell) {
      const std::size_t reason = cell / kIdentities;
      const auto verdict = static_cast<Verdict>(reason / kReasonCount);
      if (outcome_of(verdict, static_cast<Reason>(reason % kReasonCount)) == outcome) all += read(name.messages[cell]);
    }
  }
  return all;
}

std::uint64_t Tally::open_sessions() const noexcept {
  // In this order: a session that begins and ends in between makes the result one too high, and never one too low.
  const std::uint64_t ended = read(sessions_ended_);
  return std::max(read(sessions_begun_), ended) - ended;
}

}  // namespace bloomgate
