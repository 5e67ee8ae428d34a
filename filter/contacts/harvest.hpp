// Reads sources of contacts, one after the other. The first lines of a source show its kind. For one thread, which uses
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

// What the location of a file says about its content.
struct SourcePlace {
  Users users = {};       // whose it is; empty: not known
  bool is_found = false;  // it is in a folder or in a user's mailbox, so a user may have put it there
};

// The size of files: the bytes that were read, and the text after decompression.
struct BytesRead {
  std::uint64_t stored = 0;
  std::uint64_t text = 0;
};

enum class SourceContent : std::uint8_t {
  used,
  nothing,     // the file is empty
  no_address,  // it is an address book without an address
  unknown,     // its kind is not known, or is not read from such a location
};

class Harvest {
 public:
  // The references and pointers must outlive the object. `posts` may be null: mailing lists are not harvested. So may
  // `addresses`: the addresses of a login are not known.
  Harvest(const HarvestRules& rules, ContactSink& sink, unsigned threads, const std::atomic<bool>& stop,
          ListPosts* posts = nullptr, const OwnerAddresses* addresses = nullptr);

  // Reads a file, or standard input for `-`. Log files must come in the order of their time, since a message may begin
  // in one and end in the next. From a location where a user may have put files, only messages are read, and address
  // books if the rules allow it; logs and tables would speak for other users. If the result is not `used`, nothing was
  // done. Throws what Blocks throws, and BloomgateError{bad_argument} if the user of the source is not known.
  SourceContent read(const std::string& path, const SourcePlace& place);

  // The same for received mail, a message or an mbox, which shows mailing lists and nothing else. Needs posts.
  SourceContent read_received(const std::string& path);

  // The messages whose end the logs read so far do not show. See OpenMessages.
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
