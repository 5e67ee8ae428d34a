#include "milter/monitoring/decision_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace bloomgate {
namespace {

using std::chrono::seconds;

// Of one span: more than any server decides, and so few that sums of them cannot wrap.
constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;

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
void add_lines(std::string& text, const Ring& ring, DecisionHistory::Time now) {
  for (std::size_t ago = Ring::kCount; ago-- > 0;) {
    const auto at = now - static_cast<std::int64_t>(ago) * Ring::kSpan;
    const MessageCounts counts = ring.of(at);
    if (counts.all() == 0) continue;
    const auto start = at.time_since_epoch() / Ring::kSpan * Ring::kSpan.count();
    text += fmt::format("{} {} {} {} {} {}\n", Ring::kSpan.count(), start, counts.delivered, counts.checked,
                        counts.exempt, counts.refused);
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

std::string DecisionHistory::text(Time now) const {
  std::string text = std::string(kFirstLine) + "\n";
  add_lines(text, quarters_, now);
  add_lines(text, minutes_, now);
  return text;
}

std::optional<std::size_t> DecisionHistory::restore(std::string_view text, Time now) noexcept {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return number;  // cut off
    const std::string_view text_line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number == 1) {
      if (text_line != kFirstLine) return number;
      continue;
    }
    const std::optional<Line> line = line_of(text_line);
    const bool is_minute = line && line->span == static_cast<std::uint64_t>(Minutes::kSpan.count());
    if (!line || (!is_minute && line->span != static_cast<std::uint64_t>(Quarters::kSpan.count())) ||
        line->start % line->span != 0) {
      return number;
    }
    const Time start{seconds(line->start)};
    if (start > now) continue;
    if (is_minute) {
      minutes_.restore(start, line->counts);
    } else {
      quarters_.restore(start, line->counts);
    }
  }
  return {};
}

}  // namespace bloomgate
