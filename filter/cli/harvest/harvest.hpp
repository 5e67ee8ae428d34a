// Reads sources of contacts, one after the other: what a source is, its first lines show. For one thread, which uses
// others.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "filter/cli/harvest/harvest_rules.hpp"
#include "filter/cli/harvest/list_posts.hpp"
#include "filter/cli/harvest/open_messages.hpp"
#include "filter/cli/harvest/source_reader.hpp"
#include "filter/cli/lists/blocks.hpp"

namespace bloomgate::cli {

class Harvest {
 public:
  // The rules, the sink and `stop` are the caller's, who keeps them. `user` is the key of the one whose address books
  // are read; empty if nobody says. `posts` may be null: no mailing lists are wanted.
  Harvest(const HarvestRules& rules, ContactSink& sink, std::string user, unsigned threads,
          const std::atomic<bool>& stop, ListPosts* posts = nullptr);

  // A file, or `-` for standard input. Log files must come in the order of their time, since a message may begin in one
  // and end in the next. Returns false, and has done nothing, if it is no source. Throws what Blocks throws.
  bool read(const std::string& path);

  // The same for received mail, a message or an mbox, which shows mailing lists and nothing else. Not without posts.
  bool read_received(const std::string& path);

  const HarvestCounts& counts() const noexcept { return counts_; }
  // Bytes read so far. Safe from any thread.
  std::uint64_t done_bytes() const noexcept { return done_bytes_.load(std::memory_order_relaxed); }

 private:
  enum class Origin : bool { own, received };

  bool read(const std::string& path, Origin origin);
  void read_log(Blocks& blocks, Block first);
  void read_lines(Blocks& blocks, Block first, SourceReader& reader);
  std::unique_ptr<SourceReader> reader_of(SourceKind kind, const std::string& path);

  const HarvestRules& rules_;
  ContactSink& sink_;
  std::string user_;
  unsigned threads_;
  const std::atomic<bool>& stop_;
  ListPosts* posts_;
  HarvestCounts counts_;
  OpenMessages open_messages_;
  std::uint64_t bytes_before_ = 0;  // of the sources before this one
  std::atomic<std::uint64_t> done_bytes_{0};
};

}  // namespace bloomgate::cli
