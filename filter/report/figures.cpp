#include "filter/report/figures.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "filter/base/ascii.hpp"
#include "filter/log/syslog_line.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMostTextBytes = 80;  // of each queue ID and reason that is kept

// Domains are counted in lower case.
void add_domain(SpaceSaving& domains, std::string_view domain, std::uint64_t times = 1) {
  domains.add(ascii::lower_case(domain.substr(0, SpaceSaving::kMostWordBytes)), times);
}

void add_name(SpaceSaving& names, std::string_view name) {
  if (!name.empty()) names.add(name);
}

// The sender in a line of the daemon, of a message or of a sample.
std::string_view sender_of(const auto& line) noexcept {
  std::string_view sender = line.identity == "header-from" ? line.header_from : line.sender;
  if (sender.starts_with('<')) sender.remove_prefix(1);
  if (sender.ends_with('>')) sender.remove_suffix(1);
  return sender;
}

// All signers of the message that its line names.
std::string signers_of(const DecisionLine& line) {
  if (!line.child_signer.empty()) return std::string(line.child_signer);
  std::string signers(line.domain);
  for (const std::string_view signer : line.signed_by) {
    if (!signer.empty()) signers.append(signers.empty() ? "" : ", ").append(signer);
  }
  return signers;
}

// Warnings that differ in numbers and queue IDs only are of one kind: each word with a digit in it becomes a '#'.
std::string kind_of(std::string_view text) {
  std::string kind;
  text = text.substr(0, SpaceSaving::kMostWordBytes);
  while (!text.empty()) {
    const auto* const end = std::ranges::find_if_not(text, ascii::is_letter_or_digit);
    const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    if (word.empty()) {
      kind += text.front();
      text.remove_prefix(1);
    } else {
      kind += std::ranges::any_of(word, ascii::is_digit) ? "#" : word;
      text.remove_prefix(word.size());
    }
  }
  return kind;
}

// The number that the text begins with, or 0; at most 2^40, so that a sum of millions of them does not overflow.
std::uint64_t number_of(std::string_view text) noexcept {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  std::uint64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc{} ? std::min(number, kMost) : 0;
}

// "log lines lost here: 12; …"
std::uint64_t lost_lines_of(std::string_view text) noexcept {
  return take(text, "log lines lost here: ") ? number_of(text) : 0;
}

}  // namespace

ReportEvent event_of(const DaemonLine& line, LogTime time) noexcept {
  ReportEvent event = {.time = time, .level = line.level, .text = line.text, .decision = read_decision_line(line.text)};
  if (!event.decision) event.sample = read_sample_line(line.text);
  return event;
}

ListedSigner child_signer_of(const std::string& word) {
  const std::size_t space = word.find(' ');
  ListedSigner read = {.signer = word, .listed = word.substr(space + 1)};
  read.signer[space] = '.';
  return read;
}

WordHalves halves_of(const std::string& word) {
  const std::size_t space = word.find(' ');
  return {.first = word.substr(0, space), .second = word.substr(space + 1)};
}

ListedSigner needed_signer_of(const std::string& word) {
  auto [signer, listed] = halves_of(word);
  return {.signer = std::move(signer), .listed = std::move(listed)};
}

void Figures::add(const ReportEvent& event) {
  if (event.unasked) {
    add_unasked(*event.unasked, event.time);
    return;
  }
  first = first ? std::min(*first, event.time) : event.time;
  last = last ? std::max(*last, event.time) : event.time;
  if (event.decision) {
    add_message(*event.decision, event.time);
  } else if (event.sample) {
    add_sample(*event.sample);
  } else {
    add_other(event);
  }
}

void Figures::add_unasked(const UnaskedLine& line, LogTime time) {
  std::string name(line.milter.substr(0, SpaceSaving::kMostWordBytes));
  if (unasked.size() >= kMostNames && !unasked.contains(name)) name = "(others)";
  UnaskedMilter& milter = unasked[name];
  milter.first = milter.sessions == 0 ? time : std::min(milter.first, time);
  if (milter.sessions == 0 || time >= milter.last) {
    milter.last = time;
    milter.why = line.why.substr(0, kMostTextBytes);
  }
  ++milter.sessions;
}

void Figures::add_message(const DecisionLine& line, LogTime time) {
  const auto outcome = static_cast<std::size_t>(line.outcome);
  ++messages;
  ++outcomes[outcome];
  const std::int64_t hour = std::chrono::floor<std::chrono::hours>(time).time_since_epoch().count();
  if (hours.size() < kMostHours || hours.contains(hour)) {
    ++hours[hour][outcome];
  } else {
    ++without_hour;
  }
  reasons.add(std::string(outcome_name(line.outcome)) + ' ' + std::string(line.reason.substr(0, kMostTextBytes)));
  if (line.outcome == Outcome::deliver) {
    add_name(identities, line.identity);
    add_name(authentications, line.authentication);
    add_name(whitelists, line.whitelist);
  }
  add_domains(line);
  add_held(line);
  add_unauthenticated(line);
  add_recipients(line);
  add_child_signer(line);
  add_needed_signer(line);
  add_times(line, time);
}

void Figures::add_domains(const DecisionLine& line) {
  std::string_view domain = domain_of(line.sender);
  if (domain.empty() || (line.outcome == Outcome::deliver && line.identity == "header-from")) {
    domain = domain_of(line.header_from);
  }
  if (line.outcome != Outcome::exempt && !domain.empty()) add_domain(senders, domain);
  const bool is_listed = line.outcome == Outcome::deliver;
  const bool is_unlisted = line.outcome == Outcome::check && line.reason == "not-listed";
  if (domain.empty()) {
    if (is_listed || is_unlisted) ++without_domain;
  } else if (is_listed) {
    add_domain(listed_domains, domain);
  } else if (is_unlisted) {
    add_domain(unlisted_domains, domain);
  }
  if (line.forged_fields == 0) return;
  ++forging_messages;
  forged_fields += line.forged_fields;
  if (!domain.empty()) add_domain(forging_domains, domain);
}

void Figures::add_held(const DecisionLine& line) {
  constexpr std::array<std::string_view, 3> kHolds = {"suspended", "burst", "replay"};
  if (line.outcome != Outcome::check || std::ranges::find(kHolds, line.reason) == kHolds.end()) return;
  const std::string_view who = line.identity == "list" ? line.entry : sender_of(line);
  held.add(std::string(line.reason) + ' ' + std::string(who));
}

void Figures::add_unauthenticated(const DecisionLine& line) {
  if (line.outcome != Outcome::check) return;
  const bool is_listed = line.reason == "not-authenticated" || line.reason == "authentication-failed";
  if (!is_listed && line.reason != "dmarc-fail" && line.reason != "distrusted-results") return;
  std::string_view domain = line.identity == "list" ? line.entry : domain_of(sender_of(line));
  if (domain.empty()) domain = domain_of(line.header_from);
  if (domain.empty()) return;
  std::string word(line.reason);
  word.append(" ").append(line.dkim.substr(0, kMostTextBytes)).append(" ");
  // If a long domain is cut, its end still shows whose it is.
  const std::size_t left = SpaceSaving::kMostWordBytes - word.size();
  word += ascii::lower_case(domain.substr(domain.size() - std::min(domain.size(), left)));
  (is_listed ? unauthenticated_senders : vetoed_senders).add(word, 1, signers_of(line));
}

void Figures::add_recipients(const DecisionLine& line) {
  const std::uint64_t count = number_of(line.recipients);
  if (count == 0) return;
  ++recipient_messages;
  recipients += count;
  listing_recipients += std::min(count, number_of(line.listed_for));
}

std::vector<Unauthenticated> Figures::unauthenticated() const {
  std::vector<Unauthenticated> all;
  std::set<std::string> listed;
  const auto add = [&](const SpaceSaving& words, const auto& is_shown) {
    for (const SpaceSaving::Item& item : words.top(words.size())) {
      const auto [reason, rest] = halves_of(item.word);
      const auto [signature, domain] = halves_of(rest);
      if (is_shown(domain)) all.push_back({domain, reason, signature, item.note, item.count, item.error});
    }
  };
  add(unauthenticated_senders, [&](const std::string& domain) { return listed.insert(domain), true; });
  add(vetoed_senders,
      [&](const std::string& domain) { return listed.contains(domain) || listed_domains.count_of(domain) != 0; });
  std::ranges::stable_sort(all, std::ranges::greater(), &Unauthenticated::messages);
  return all;
}

// The signer's own labels, a space and the sender's domain: no longer than the signer.
void Figures::add_child_signer(const DecisionLine& line) {
  const std::string_view signer = line.child_signer, domain = line.child_of;
  if (domain.empty() || signer.size() < domain.size() + 2 || !signer.ends_with(domain)) return;
  const std::size_t dot = signer.size() - domain.size() - 1;
  if (signer.size() > SpaceSaving::kMostWordBytes || signer[dot] != '.') return;
  std::string word(signer);
  word[dot] = ' ';
  child_signers.add(word);
}

void Figures::add_needed_signer(const DecisionLine& line) {
  if (line.outcome != Outcome::check || line.reason != "not-authenticated" || line.signer.empty()) return;
  const std::string_view entry = line.entry.empty() ? line.header_from : line.entry;
  const std::string word = std::string(line.signer) + ' ' + std::string(entry);
  if (word.size() <= SpaceSaving::kMostWordBytes) needed_signers.add(word);
}

void Figures::add_times(const DecisionLine& line, LogTime time) {
  if (!line.confirmed.empty()) confirmations.add(line.confirmed);
  if (line.confirm_seconds) confirm_times.add(*line.confirm_seconds);
  if (!line.deep_check.empty()) {
    checks.add(line.deep_check);
    if (line.check_seconds) (line.deep_check == "failed" ? failed_check_times : check_times).add(*line.check_seconds);
  }
  if (!line.decision_seconds) return;
  const double seconds = *line.decision_seconds;
  decision_times.add(seconds);
  if (slowest.size() == kMostSlow && slowest.back().seconds >= seconds) return;
  if (slowest.size() == kMostSlow) slowest.pop_back();
  const auto place = std::ranges::upper_bound(slowest, seconds, std::ranges::greater(), &SlowDecision::seconds);
  slowest.insert(place, {.seconds = seconds,
                         .time = time,
                         .queue_id = std::string(line.queue_id.substr(0, kMostTextBytes)),
                         .reason = std::string(line.reason.substr(0, kMostTextBytes))});
}

void Figures::add_sample(const SampleLine& line) {
  samples.add(line.answer);
  if (line.answer != "spam") return;
  std::string note(line.whitelist.substr(0, kMostTextBytes));
  note.append(" ").append(line.score.substr(0, kMostTextBytes));
  spam_senders.add(sender_of(line), 1, note);
}

void Figures::add_other(const ReportEvent& event) {
  if (event.level != DaemonLevel::info) {
    warnings.add(kind_of(event.text), 1, event.text);
    lost_lines += lost_lines_of(event.text);
  } else if (event.text.starts_with("bloomgate-milter ") && event.text.find(" starting") != std::string_view::npos) {
    ++starts;
  }
}

std::uint64_t Figures::spared_messages() const noexcept {
  const std::uint64_t delivered = count(Outcome::deliver);
  return delivered - std::min(delivered, samples.total());
}

std::optional<double> Figures::spared_seconds() const noexcept {
  if (check_times.count() == 0) return std::nullopt;
  return check_times.mean_seconds() * static_cast<double>(spared_messages());
}

std::size_t TimeCounts::bucket_of(double seconds) noexcept {
  if (seconds <= kShortest) return 0;
  const double bucket = std::ceil(std::log2(seconds / kShortest) * static_cast<double>(kPerDoubling) - 1e-9);
  return static_cast<std::size_t>(std::clamp(bucket, 0.0, static_cast<double>(30 * kPerDoubling)));
}

void TimeCounts::add(double seconds) noexcept {
  ++buckets_[bucket_of(seconds)];
  for (std::size_t mark = 0; mark < kMarks.size() && seconds > kMarks[mark]; ++mark) ++longer_[mark];
  ++count_;
  sum_ += seconds;
  longest_ = std::max(longest_, seconds);
}

double TimeCounts::quantile_seconds(double share) const noexcept {
  const double wanted = share * static_cast<double>(count_);
  std::uint64_t so_far = 0;
  for (std::size_t bucket = 0; bucket + 1 < buckets_.size(); ++bucket) {
    so_far += buckets_[bucket];
    if (static_cast<double>(so_far) < wanted) continue;
    const double end = kShortest * std::exp2(static_cast<double>(bucket) / static_cast<double>(kPerDoubling));
    return std::min(end, longest_);
  }
  return longest_;
}

}  // namespace bloomgate
