#include "filter/report/log_reading.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "filter/base/usage_error.hpp"
#include "filter/ingest/blocks.hpp"
#include "filter/ingest/turns.hpp"

namespace bloomgate {
namespace {

// The events of a block of a log. Their texts are parts of the block.
struct EventBlock {
  Block block;
  std::vector<ReportEvent> events;
  ReadCounts counts;
};

void read_line(std::string_view line, LogTime since, LogTimes& times, EventBlock& read) {
  ++read.counts.lines;
  const std::optional<DaemonLine> daemon = read_daemon_line(line);
  if (!daemon) {
    const std::optional<UnaskedLine> unasked = read_unasked_line(line);
    if (!unasked) return;
    const std::optional<LogTime> time = times.read(unasked->date);
    if (time && *time >= since) read.events.push_back({.time = *time, .unasked = unasked});
    return;
  }
  ++read.counts.daemon_lines;
  const std::optional<LogTime> time = times.read(daemon->date);
  if (!time) {
    ++read.counts.undated_lines;
  } else if (*time < since) {
    ++read.counts.older_lines;
  } else {
    read.events.push_back(event_of(*daemon, *time));
  }
}

EventBlock read_block(Block block, LogTime since, LogTime now) {
  EventBlock read = {.block = std::move(block), .events = {}, .counts = {}};
  LogTimes times(now);
  std::string_view text = read.block.text;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    read_line(line, since, times, read);
  }
  return read;
}

std::optional<std::chrono::seconds> age_of(std::string_view text) noexcept {
  constexpr unsigned kMostDays = 36'500;
  constexpr unsigned kDaySeconds = 86'400;
  if (text.size() < 2) return std::nullopt;
  unsigned unit = 0;
  switch (text.back()) {
    case 'm':
      unit = 60;
      break;
    case 'h':
      unit = 3600;
      break;
    case 'd':
      unit = kDaySeconds;
      break;
    case 'w':
      unit = 7 * kDaySeconds;
      break;
    default:
      return std::nullopt;
  }
  unsigned count = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto [stopped, error] = std::from_chars(text.data(), end, count);
  if (stopped != end || error != std::errc{} || count == 0) return std::nullopt;
  const std::chrono::seconds age = std::chrono::seconds(unit) * count;
  if (age > std::chrono::seconds(kDaySeconds) * kMostDays) return std::nullopt;
  return age;
}

// Reads a date of a log, with `T` between day and time; adds the parts that are missing.
std::optional<LogTime> moment_of(std::string text, LogTime now) {
  constexpr std::size_t kDay = 10, kMinute = 16, kSecond = 19;
  if (text.size() == kDay) text += "T00:00:00";
  if (text.size() == kMinute) text += ":00";
  if (text.size() != kSecond || (text[kDay] != ' ' && text[kDay] != 'T')) return std::nullopt;
  return LogTimes(now).read(text);
}

}  // namespace

void LogReading::read(const std::string& path) {
  Blocks blocks({path}, stop_, false, BlockOrder::in_turn, FileChanges::appended);
  const auto work = [&](Block block) { return read_block(std::move(block), since_, now_); };
  const auto use = [&](const EventBlock& read) {
    for (const ReportEvent& event : read.events) figures_.add(event);
    counts_.lines += read.counts.lines;
    counts_.daemon_lines += read.counts.daemon_lines;
    counts_.older_lines += read.counts.older_lines;
    counts_.undated_lines += read.counts.undated_lines;
    done_bytes_ = bytes_before_ + blocks.done_bytes();
    return true;
  };
  for_each_block_in_turn(blocks, 0, threads_, work, use);
  ++counts_.logs;
  bytes_before_ += std::max(blocks.done_bytes(), blocks.total_bytes());
  done_bytes_ = bytes_before_;
}

LogTime parse_since(const std::string& text, LogTime now) {
  if (const auto age = age_of(text)) return now - *age;
  if (const auto moment = moment_of(text, now)) return *moment;
  throw UsageError("--since takes a time such as 24h, 7d, 2026-11-20 or '2026-11-20 06:00', not '" + text + "'");
}

}  // namespace bloomgate
