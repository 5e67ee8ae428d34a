#include "filter/log/daemon_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "filter/log/line_keys.hpp"
#include "filter/log/syslog_line.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kProgram = "bloomgate-milter";

// `level` is that of information before.
bool take_level(std::string_view& text, DaemonLevel& level) noexcept {
  if (take(text, "warning: ")) {
    level = DaemonLevel::warning;
  } else if (take(text, "error: ") || take(text, "critical: ")) {
    level = DaemonLevel::error;
  } else {
    return take(text, "info: ") || take(text, "debug: ");
  }
  return true;
}

// `2026-11-20T10:00:00.123+01:00 info: …`
std::optional<DaemonLine> read_own_line(std::string_view line) noexcept {
  const std::optional<std::string_view> date = take_log_date(line);
  DaemonLine read;
  if (!date || !take_level(line, read.level)) return std::nullopt;
  read.date = *date;
  read.text = line;
  return read;
}

// No message takes longer, and sums of such numbers stay finite.
constexpr double kMostSeconds = 1e6;
constexpr double kMicro = 1e-6;
constexpr double kMilli = 1e-3;

std::optional<double> seconds_of(std::string_view text, double unit) noexcept {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (stopped != end || error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  if (value * unit > kMostSeconds) return std::nullopt;
  return value * unit;
}

std::uint64_t number_of(std::string_view text) noexcept {
  // A larger number than any message can have is not a number of its fields.
  constexpr std::uint64_t kMostFields = 100'000'000;
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return stopped == end && error == std::errc{} && value <= kMostFields ? value : 0;
}

std::optional<Outcome> outcome_of(std::string_view decision, std::string_view reason) noexcept {
  const bool is_exempt = reason.starts_with("exempt-");
  if (decision == "deliver") return is_exempt ? Outcome::exempt : Outcome::deliver;
  if (decision == "check") return is_exempt ? Outcome::exempt : Outcome::check;
  if (decision == "refuse") return Outcome::refuse;
  return std::nullopt;
}

// The words of the line, by their keys.
struct Words {
  std::array<std::string_view, kLineKeys.size()> values;
  decltype(DecisionLine::signed_by) signed_by;  // the only key that a line may have more than once

  std::string_view operator[](LineKey key) const noexcept { return values[key.index()]; }

  void add(LineKey key, std::string_view value) noexcept {
    std::string_view& first = values[key.index()];
    if (first.empty()) first = value;
    if (key != "signed_by") return;
    if (auto* const free = std::ranges::find_if(signed_by, &std::string_view::empty); free != signed_by.end()) {
      *free = value;
    }
  }
};

std::optional<Words> words_of(std::string_view text) noexcept {
  constexpr std::string_view kFirst = LineKey("queue_id").name();
  if (!text.starts_with(kFirst) || !text.substr(kFirst.size()).starts_with('=')) return std::nullopt;
  Words words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    if (const auto key = LineKey::find(word.substr(0, equals))) words.add(*key, word.substr(equals + 1));
  }
  return words;
}

}  // namespace

std::optional<DaemonLine> read_daemon_line(std::string_view line) noexcept {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (const std::optional<DaemonLine> own = read_own_line(line)) return own;
  const std::optional<SyslogLine> read = read_syslog_line(line);
  if (!read || read->program != kProgram) return std::nullopt;
  // The journal records a service's standard error as it is.
  if (const std::optional<DaemonLine> own = read_own_line(read->text)) return own;
  DaemonLine daemon = {.date = read->date, .text = read->text};
  take_level(daemon.text, daemon.level);
  return daemon;
}

std::string_view outcome_name(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::deliver:
      return "deliver";
    case Outcome::check:
      return "check";
    case Outcome::exempt:
      return "exempt";
    case Outcome::refuse:
      break;
  }
  return "refuse";
}

std::optional<DecisionLine> read_decision_line(std::string_view text) noexcept {
  const std::optional<Words> found = words_of(text);
  if (!found) return std::nullopt;
  const Words& words = *found;
  const std::optional<Outcome> outcome = outcome_of(words["decision"], words["reason"]);
  if (!outcome || words["reason"].empty()) return std::nullopt;
  return DecisionLine{.outcome = *outcome,
                      .decision = words["decision"],
                      .queue_id = words["queue_id"],
                      .sender = words["sender"],
                      .header_from = words["header_from"],
                      .reason = words["reason"],
                      .identity = words["identity"],
                      .authentication = words["authentication"],
                      .whitelist = words["whitelist"],
                      .confirmed = words["confirmed"],
                      .deep_check = words["deep_check"],
                      .child_signer = words["child_signer"],
                      .child_of = words["child_of"],
                      .entry = words["entry"],
                      .signer = words["signer"],
                      .fault = words["fault"],
                      .dkim = words["dkim"],
                      .domain = words["domain"],
                      .selector = words["selector"],
                      .recipients = words["recipients"],
                      .listed_for = words["listed_for"],
                      .signed_by = words.signed_by,
                      .forged_fields = number_of(words["forged_headers"]),
                      .decision_seconds = seconds_of(words["time_us"], kMicro),
                      .confirm_seconds = seconds_of(words["confirm_us"], kMicro),
                      .check_seconds = seconds_of(words["check_ms"], kMilli)};
}

std::optional<SampleLine> read_sample_line(std::string_view text) noexcept {
  const std::optional<Words> found = words_of(text);
  if (!found || (*found)["sample"].empty()) return std::nullopt;
  const Words& words = *found;
  return SampleLine{.answer = words["sample"],
                    .sender = words["sender"],
                    .header_from = words["header_from"],
                    .identity = words["identity"],
                    .whitelist = words["whitelist"],
                    .score = words["score"]};
}

std::string_view domain_of(std::string_view sender) noexcept {
  const std::size_t at = sender.rfind('@');
  if (at == std::string_view::npos || sender.find("\\+") != std::string_view::npos) return {};
  std::string_view domain = sender.substr(at + 1);
  if (sender.starts_with('<')) {
    if (!domain.ends_with('>')) return {};
    domain.remove_suffix(1);
  }
  return domain;
}

}  // namespace bloomgate
