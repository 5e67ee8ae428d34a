#include "milter/monitoring/decision_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace bloomgate {
namespace {

using std::chrono::seconds;

// Limit for one period: more than any server decides, and small enough that sums cannot overflow.
constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;

constexpr std::uint64_t kLastStart = 0xffff'ffff;  // in the year 2106

constexpr std::chrono::minutes kLeap(2);
constexpr std::chrono::hours kFarBack(24);
constexpr unsigned kOddSeconds = 600;

struct Line {
  std::uint64_t span = 0, start = 0;  // in seconds
  MessageCounts counts = {};
};

std::optional<Line> line_of(std::string_view text) noexcept {
  std::array<std::uint64_t, 6> numbers = {};
  for (std::uint64_t& number : numbers) {
    if (&number != numbers.begin()) {
      if (!text.starts_with(' ')) return {};
      text.remove_prefix(1);
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number > kMost) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  if (!text.empty()) return {};
  return Line{numbers[0], numbers[1], {numbers[2], numbers[3], numbers[4], numbers[5]}};
}

template <typename Ring>
void add_lines(std::string& text, const Ring& ring) {
  for (std::size_t ago = Ring::kCount; ago-- > 0;) {
    const auto start = ring.newest() - static_cast<std::int64_t>(ago) * Ring::kSpan;
    const MessageCounts counts = ring.of(start);
    if (counts.all() == 0) continue;
    text += fmt::format("{} {} {} {} {} {}\n", Ring::kSpan.count(), start.time_since_epoch().count(), counts.delivered,
                        counts.checked, counts.exempt, counts.refused);
  }
}

}  // namespace

MessageCounts& MessageCounts::operator+=(const MessageCounts& more) noexcept {
  delivered += more.delivered;
  checked += more.checked;
  exempt += more.exempt;
  refused += more.refused;
  return *this;
}

bool DecisionHistory::believes(Time now) noexcept {
  // The file may be from long ago, and its month of history is worth waiting until the clock is set.
  const auto most = has_begun_ ? kLeap : Quarters::kSpan * static_cast<std::int64_t>(Quarters::kCount);
  if (last_ == Time{} || (now >= last_ - kLeap && now <= last_ + most)) return true;
  return ++odd_seconds_ > kOddSeconds;
}

void DecisionHistory::add(Time now, const MessageCounts& more) noexcept {
  waiting_ += more;
  if (!has_begun_) last_ = std::max(minutes_.newest(), quarters_.newest());
  if (!believes(now)) return;
  has_begun_ = true;
  // If the time is far back, the clock was wrong rather than all stored counts.
  if (now < last_ - kLeap && now > last_ - kFarBack) {
    minutes_.rewind(now);
    quarters_.rewind(now);
  }
  odd_seconds_ = 0;
  last_ = now;
  minutes_.add(now, waiting_);
  quarters_.add(now, std::exchange(waiting_, {}));
}

std::string DecisionHistory::text() const {
  std::string text = std::string(kFirstLine) + "\n";
  add_lines(text, quarters_);
  add_lines(text, minutes_);
  return text;
}

std::optional<std::size_t> DecisionHistory::restore(std::string_view text) noexcept {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return number;  // the text is cut off
    const std::string_view text_line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number == 1) {
      if (text_line != kFirstLine) return number;
      continue;
    }
    const std::optional<Line> line = line_of(text_line);
    const bool is_minute = line && line->span == static_cast<std::uint64_t>(Minutes::kSpan.count());
    if (!line || (!is_minute && line->span != static_cast<std::uint64_t>(Quarters::kSpan.count())) ||
        line->start % line->span != 0 || line->start > kLastStart) {
      return number;
    }
    const Time start{seconds(line->start)};
    if (is_minute) {
      minutes_.restore(start, line->counts);
    } else {
      quarters_.restore(start, line->counts);
    }
  }
  return {};
}

}  // namespace bloomgate
