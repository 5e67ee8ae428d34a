// Reads sources of contacts, one after the other: what a source is, its first lines show. For one thread, which uses
// others.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "filter/contacts/harvest_rules.hpp"
#include "filter/contacts/list_posts.hpp"
#include "filter/contacts/open_messages.hpp"
#include "filter/contacts/source_reader.hpp"
#include "filter/ingest/blocks.hpp"

namespace bloomgate {

// Where a file is, as far as that says what it may be.
struct SourcePlace {
  Users users = {};       // whose it is; empty: that is not known
  bool is_found = false;  // a user may have put it there: in a folder, or at a place of users
};

// Of files: what was read of them, and what it is when it is decompressed.
struct BytesRead {
  std::uint64_t stored = 0;
  std::uint64_t text = 0;
};

enum class SourceContent : std::uint8_t {
  used,
  nothing,     // the file is empty
  no_address,  // it is an address book without an address
  unknown,     // it is of no kind that is known, or of none that is read at its place
};

class Harvest {
 public:
  // The rules, the sink and `stop` are the caller's, who keeps them. `posts` may be null: no mailing lists are wanted.
  // So may `addresses`: which of them a login has is not known.
  Harvest(const HarvestRules& rules, ContactSink& sink, unsigned threads, const std::atomic<bool>& stop,
          ListPosts* posts = nullptr, const OwnerAddresses* addresses = nullptr);

  // A file, or `-` for standard input. Log files must come in the order of their time, since a message may begin in one
  // and end in the next. Only messages, and address books where the rules say so, are read where a user may have put
  // them; logs and tables speak for others. Nothing is done unless it is used. Throws what Blocks throws, and
  // BloomgateError{bad_argument} where it is not known whose it is.
  SourceContent read(const std::string& path, const SourcePlace& place);

  // The same for received mail, a message or an mbox, which shows mailing lists and nothing else. Not without posts.
  SourceContent read_received(const std::string& path);

  // Of the logs read so far, the messages whose end they do not show. See OpenMessages.
  std::string under_way(Day today) const { return open_messages_.under_way(today); }
  void resume(std::string_view lines, Day today) { open_messages_.resume(lines, today); }

  const HarvestCounts& counts() const noexcept { return counts_; }
  // Bytes read so far. Safe from any thread.
  std::uint64_t done_bytes() const noexcept { return done_bytes_.load(std::memory_order_relaxed); }

 private:
  std::unique_ptr<Blocks> open(const std::string& path) const;
  void count_bytes(const Blocks& blocks) noexcept;
  void read_log(Blocks& blocks, Block first, Day latest);
  void read_lines(Blocks& blocks, Block first, SourceReader& reader, BytesRead& of_user, bool is_found);
  bool is_read(SourceKind kind, const SourcePlace& place) const noexcept;
  std::unique_ptr<SourceReader> reader_of(SourceKind kind, const std::string& path, const SourcePlace& place);

  const HarvestRules& rules_;
  ContactSink& sink_;
  unsigned threads_;
  const std::atomic<bool>& stop_;
  ListPosts* posts_;
  HarvestCounts counts_;
  OpenMessages open_messages_;
  std::map<const std::string*, BytesRead> read_of_users_;  // by the users of the place
  std::uint64_t bytes_before_ = 0;                         // of the sources before this one
  std::atomic<std::uint64_t> done_bytes_{0};
};

}  // namespace bloomgate
