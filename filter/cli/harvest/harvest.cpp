#include "filter/cli/harvest/harvest.hpp"

#include <algorithm>
#include <vector>

#include "filter/cli/harvest/address_book.hpp"
#include "filter/cli/harvest/mail_reader.hpp"
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

Harvest::Harvest(const HarvestRules& rules, ContactSink& sink, std::string user, unsigned threads,
                 const std::atomic<bool>& stop, ListPosts* posts)
    : rules_(rules),
      sink_(sink),
      user_(std::move(user)),
      threads_(threads),
      stop_(stop),
      posts_(posts),
      open_messages_(rules, counts_, sink_) {}

void Harvest::read_log(Blocks& blocks, Block first) {
  const auto use = [&](const LogBlock& read) {
    for (const LogEvent& event : read.events) open_messages_.use(event);
    done_bytes_ = bytes_before_ + blocks.done_bytes();
    return true;
  };
  use(read_block(std::move(first)));
  for_each_block_in_turn(blocks, 1, threads_, read_block, use);
}

void Harvest::read_lines(Blocks& blocks, Block first, SourceReader& reader) {
  do {
    reader.read(first.text);
    done_bytes_ = bytes_before_ + blocks.done_bytes();
  } while (reader.wants_more() && blocks.next(first));
  reader.finish();
}

// Of an address book nobody knows whose it is unless told: where only the number of users matters, each is another's.
std::unique_ptr<SourceReader> Harvest::reader_of(SourceKind kind, const std::string& path) {
  const std::string user = user_.empty() && !rules_.needs_user ? path : user_;
  switch (kind) {
    case SourceKind::message:
      return std::make_unique<MailReader>(rules_, counts_, sink_, false, posts_);
    case SourceKind::mbox:
      return std::make_unique<MailReader>(rules_, counts_, sink_, true, posts_);
    case SourceKind::vcard:
      return std::make_unique<VcardReader>(rules_, counts_, sink_, user);
    case SourceKind::csv:
      return std::make_unique<CsvContactsReader>(rules_, counts_, sink_, user);
    case SourceKind::log:
      break;
  }
  return nullptr;
}

bool Harvest::read(const std::string& path) {
  return read(path, Origin::own);
}

bool Harvest::read_received(const std::string& path) {
  return read(path, Origin::received);
}

bool Harvest::read(const std::string& path, Origin origin) {
  auto blocks = std::make_unique<Blocks>(std::vector{path}, stop_, false, BlockOrder::in_turn, FileChanges::appended);
  Block first;
  if (!blocks->next(first) || first.text.empty()) return true;
  const std::optional<SourceKind> kind = recognise_source(first.text);
  if (!kind) return false;
  const bool is_received = origin == Origin::received;
  if (is_received && *kind != SourceKind::message && *kind != SourceKind::mbox) return false;
  if (*kind == SourceKind::csv && path != "-") {
    // Its fields may hold line ends.
    blocks = std::make_unique<Blocks>(std::vector{path}, stop_, true, BlockOrder::in_turn);
    if (!blocks->next(first)) return true;
  }
  if (is_received) {
    ReceivedReader reader(counts_, *posts_, *kind == SourceKind::mbox);
    read_lines(*blocks, std::move(first), reader);
  } else if (*kind == SourceKind::log) {
    read_log(*blocks, std::move(first));
  } else {
    read_lines(*blocks, std::move(first), *reader_of(*kind, path));
  }
  bytes_before_ += std::max(blocks->done_bytes(), blocks->total_bytes());
  done_bytes_ = bytes_before_;
  return true;
}

}  // namespace bloomgate::cli
