#include "filter/report/figures.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "filter/base/ascii.hpp"
#include "filter/log/syslog_line.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMostTextBytes = 80;  // of a queue ID and a reason that are kept

// Domains have no case.
void add_domain(SpaceSaving& domains, std::string_view domain, std::uint64_t times = 1) {
  domains.add(ascii::lower_case(domain.substr(0, SpaceSaving::kMostWordBytes)), times);
}

void add_name(SpaceSaving& names, std::string_view name) {
  if (!name.empty()) names.add(name);
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

// "log lines lost here: 12; …"
std::uint64_t lost_lines_of(std::string_view text) noexcept {
  constexpr std::string_view kStart = "log lines lost here: ";
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (!text.starts_with(kStart)) return 0;
  text.remove_prefix(kStart.size());
  std::uint64_t lost = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), lost);
  return result.ec == std::errc{} ? std::min(lost, kMost) : 0;
}

// `warning: connect to Milter service unix:/run/bloomgate/milter.sock: Connection refused`, and where a milter ended in
// the middle of a session, `warning: milter unix:/run/bloomgate/milter.sock: can't read SMFIC_MAIL reply packet header:
// …`
std::optional<UnaskedLine> read_postfix(std::string_view text) noexcept {
  UnaskedLine read;
  if (!take(text, "warning: connect to Milter service ")) {
    if (!take(text, "warning: milter ") || text.find(": can't read SMFIC_") == std::string_view::npos)
      return std::nullopt;
  }
  if (!take_until(text, ": ", read.milter)) return std::nullopt;
  read.why = text;
  return read;
}

// `4AB12: Milter (bloomgate): to error state`
std::optional<UnaskedLine> read_sendmail(std::string_view text) noexcept {
  UnaskedLine read;
  std::string_view id;
  if (!take_until(text, ": ", id) || !take(text, "Milter (") || !take_until(text, "): ", read.milter))
    return std::nullopt;
  if (text != "to error state") return std::nullopt;
  read.why = text;
  return read;
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

ListedSigner needed_signer_of(const std::string& word) {
  const std::size_t space = word.find(' ');
  return {.signer = word.substr(0, space), .listed = word.substr(space + 1)};
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
  add_child_signer(line);
  add_needed_signer(line);
  add_times(line, time);
}

void Figures::add_domains(const DecisionLine& line) {
  std::string_view domain = domain_of(line.sender);
  if (domain.empty() || (line.outcome == Outcome::deliver && line.identity == "header-from")) {
    domain = domain_of(line.header_from);
  }
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
  std::string_view sender = line.identity == "header-from" ? line.header_from : line.sender;
  if (sender.starts_with('<')) sender.remove_prefix(1);
  if (sender.ends_with('>')) sender.remove_suffix(1);
  std::string note(line.whitelist.substr(0, kMostTextBytes));
  note.append(" ").append(line.score.substr(0, kMostTextBytes));
  spam_senders.add(sender, 1, note);
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

std::optional<UnaskedLine> read_unasked_line(std::string_view line) noexcept {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::optional<SyslogLine> found = read_syslog_line(line);
  if (!found) return std::nullopt;
  std::optional<UnaskedLine> read;
  if (found->program.ends_with("/smtpd") || found->program.ends_with("/cleanup")) {
    read = read_postfix(found->text);
  } else if (found->program == "sm-mta" || found->program == "sendmail") {
    read = read_sendmail(found->text);
  }
  if (read) read->date = found->date;
  return read;
}

}  // namespace bloomgate
