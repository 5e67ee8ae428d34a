// Reads sources of contacts, one after the other: what a source is, its first lines show. For one thread, which uses
// others.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "filter/cli/harvest/harvest_rules.hpp"
#include "filter/cli/harvest/open_messages.hpp"
#include "filter/cli/lists/blocks.hpp"

namespace bloomgate::cli {

class Harvest {
 public:
  // The rules, the sink and `stop` are the caller's, who keeps them.
  Harvest(const HarvestRules& rules, ContactSink& sink, unsigned threads, const std::atomic<bool>& stop);

  // A file, or `-` for standard input. Log files must come in the order of their time, since a message may begin in one
  // and end in the next. Throws BloomgateError: bad_input for what is no source, and what Blocks throws.
  void read(const std::string& path);

  const HarvestCounts& counts() const noexcept { return counts_; }
  // Bytes read so far. Safe from any thread.
  std::uint64_t done_bytes() const noexcept { return done_bytes_.load(std::memory_order_relaxed); }

 private:
  void read_log(Blocks& blocks, Block first);

  ContactSink& sink_;
  unsigned threads_;
  const std::atomic<bool>& stop_;
  HarvestCounts counts_;
  OpenMessages open_messages_;
  std::uint64_t bytes_before_ = 0;  // of the sources before this one
  std::atomic<std::uint64_t> done_bytes_{0};
};

}  // namespace bloomgate::cli
