#include "filter/report/log_reading.hpp"

#include <algorithm>
#include <vector>

#include "filter/ingest/blocks.hpp"
#include "filter/ingest/turns.hpp"

namespace bloomgate {
namespace {

// What a block of a log says. The events' texts are in the block.
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

}  // namespace bloomgate
