#include "filter/log/decision_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace bloomgate {
namespace {

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
  // More than a message can have is no number of its fields.
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

// The words of the line that are taken over as they are.
struct Words {
  DecisionLine line;
  std::string_view forged, decision_us, confirm_us, check_ms, sample, score, repeats;
};

std::string_view* place_of(std::string_view name, Words& words) noexcept {
  struct Place {
    std::string_view name;
    std::string_view* value;
  };
  DecisionLine& line = words.line;
  const std::array places = {Place{"sender", &line.sender},
                             Place{"header_from", &line.header_from},
                             Place{"decision", &line.decision},
                             Place{"reason", &line.reason},
                             Place{"identity", &line.identity},
                             Place{"authentication", &line.authentication},
                             Place{"whitelist", &line.whitelist},
                             Place{"time_us", &words.decision_us},
                             Place{"confirmed", &line.confirmed},
                             Place{"confirm_us", &words.confirm_us},
                             Place{"forged_headers", &words.forged},
                             Place{"deep_check", &line.deep_check},
                             Place{"check_ms", &words.check_ms},
                             Place{"sample", &words.sample},
                             Place{"score", &words.score},
                             Place{"repeats", &words.repeats},
                             Place{"child_signer", &line.child_signer},
                             Place{"child_of", &line.child_of},
                             Place{"entry", &line.entry},
                             Place{"signer", &line.signer},
                             Place{"proof", &line.proof},
                             Place{"fault", &line.fault},
                             Place{"dkim", &line.dkim},
                             Place{"domain", &line.domain},
                             Place{"selector", &line.selector},
                             Place{"recipients", &line.recipients},
                             Place{"listed_for", &line.listed_for}};
  for (const Place& place : places) {
    if (place.name == name) return place.value;
  }
  // The only one that a line may have more than once.
  if (name == "signed_by") {
    auto* const free = std::ranges::find_if(line.signed_by, &std::string_view::empty);
    return free == line.signed_by.end() ? nullptr : free;
  }
  return nullptr;
}

std::optional<Words> words_of(std::string_view text) noexcept {
  constexpr std::string_view kFirst = "queue_id=";
  if (!text.starts_with(kFirst)) return std::nullopt;
  Words words;
  words.line.queue_id = text.substr(kFirst.size(), text.find(' ') - kFirst.size());
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view* const value = place_of(word.substr(0, equals), words);
    if (value != nullptr && value->empty()) *value = word.substr(equals + 1);
  }
  return words;
}

}  // namespace

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
  std::optional<Words> words = words_of(text);
  if (!words) return std::nullopt;
  DecisionLine& line = words->line;
  const std::optional<Outcome> outcome = outcome_of(line.decision, line.reason);
  if (!outcome || line.reason.empty()) return std::nullopt;
  line.outcome = *outcome;
  line.forged_fields = number_of(words->forged);
  line.decision_seconds = seconds_of(words->decision_us, kMicro);
  line.confirm_seconds = seconds_of(words->confirm_us, kMicro);
  line.check_seconds = seconds_of(words->check_ms, kMilli);
  return line;
}

std::optional<SampleLine> read_sample_line(std::string_view text) noexcept {
  const std::optional<Words> words = words_of(text);
  if (!words || words->sample.empty()) return std::nullopt;
  return SampleLine{.answer = words->sample,
                    .sender = words->line.sender,
                    .header_from = words->line.header_from,
                    .identity = words->line.identity,
                    .whitelist = words->line.whitelist,
                    .score = words->score,
                    .samples = 1 + number_of(words->repeats)};
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
