#include "filter/cli/harvest/harvest.hpp"

#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/cli/lists/turns.hpp"

namespace bloomgate::cli {
namespace {

// What a block of a log says. The events' texts are in the block.
struct LogBlock {
  Block block;
  std::vector<LogEvent> events;
};

// A last line without an end is left for the next run: somebody may be writing it.
LogBlock read_block(Block block) {
  LogBlock read = {.block = std::move(block), .events = {}};
  std::string_view text = read.block.text;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    if (const std::optional<LogEvent> event = read_log_line(text.substr(0, end))) read.events.push_back(*event);
  }
  return read;
}

}  // namespace

Harvest::Harvest(const HarvestRules& rules, ContactSink& sink, unsigned threads, const std::atomic<bool>& stop)
    : sink_(sink), threads_(threads), stop_(stop), open_messages_(rules, counts_, sink_) {}

void Harvest::read_log(Blocks& blocks, Block first) {
  const auto use = [&](const LogBlock& read) {
    for (const LogEvent& event : read.events) open_messages_.use(event);
    done_bytes_ = bytes_before_ + blocks.done_bytes();
    return true;
  };
  use(read_block(std::move(first)));
  constexpr std::uint64_t kAheadOfEach = 4;  // some MiB
  Turns<LogBlock, decltype(use)> turns(kAheadOfEach * threads_, use);
  run_parallel(threads_, [&](unsigned) {
    try {
      bool more = true;
      for (Block block; more && blocks.next(block); block = Block()) {
        const std::uint64_t turn = block.turn - 1;
        more = turns.put(turn, read_block(std::move(block)));
      }
    } catch (...) {
      turns.end();
      throw;
    }
  });
}

void Harvest::read(const std::string& path) {
  Blocks blocks({path}, stop_, false, BlockOrder::in_turn, FileChanges::appended);
  Block first;
  if (blocks.next(first)) read_log(blocks, std::move(first));
  bytes_before_ += blocks.done_bytes();
}

}  // namespace bloomgate::cli
