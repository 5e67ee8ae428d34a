#include "filter/contacts/harvest.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "filter/contacts/address_book.hpp"
#include "filter/contacts/mail_reader.hpp"
#include "filter/ingest/turns.hpp"
#include "filter/mail/utf16_text.hpp"

namespace bloomgate {
namespace {

// The events of a block of a log. Their texts are parts of the block.
struct LogBlock {
  Block block;
  std::vector<LogEvent> events;
};

// A last line without an end is left for the next run, since it may not be complete yet.
LogBlock read_block(Block block, Day latest) {
  LogBlock read = {.block = std::move(block), .events = {}};
  std::string_view text = read.block.text;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    if (const std::optional<LogEvent> event = read_log_line(text.substr(0, end), latest)) read.events.push_back(*event);
  }
  return read;
}

// The last day that a line of the log can have, in any time zone.
Day last_day_of_file(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return last_day_at(std::chrono::system_clock::now());
  return last_day_at(std::chrono::system_clock::from_time_t(status.st_mtime));
}

// The limit for an address book.
constexpr std::size_t kMostUtf16Bytes = std::size_t{32} << 20;

// A user can make a file of any length that takes no room on the disk, and reading it would take all night. Disks with
// compression make files smaller, but not by that much. Also, a pipe may have replaced the file since it was found.
bool is_likely_mail(const std::string& path) noexcept {
  constexpr off_t kLarge = off_t{64} << 20;
  constexpr off_t kBlockBytes = 512;  // the unit of st_blocks: stat(2)
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         (status.st_size <= kLarge || status.st_blocks * kBlockBytes >= status.st_size / 64);
}

// A user can also make small files whose decompression takes all night. Mail, with recipients and identifiers in each
// message, becomes some 20 times smaller. `before` is the sum of the user's files before this one.
void require_likely_size(const Blocks& blocks, const BytesRead& before, std::uint64_t text_bytes) {
  constexpr std::uint64_t kSmall = std::uint64_t{16} << 20;
  constexpr std::uint64_t kMostTimes = 100;
  const std::uint64_t text = before.text + text_bytes;
  const bool is_compressed = text_bytes > blocks.done_bytes();
  if (!is_compressed || text <= kSmall || text / kMostTimes <= before.stored + blocks.done_bytes()) return;
  throw BloomgateError(
      ErrorCode::bad_input,
      blocks.name(0) + " becomes more than " + std::to_string(kMostTimes) +
          " times as large when it is decompressed, as no mail does, if its user's files before it are "
          "counted, too; the rest of it is not read",
      {.path = blocks.name(0)});
}

}  // namespace

Harvest::Harvest(const HarvestRules& rules, ContactSink& sink, unsigned threads, const std::atomic<bool>& stop,
                 ListPosts* posts, const OwnerAddresses* addresses)
    : rules_(rules),
      sink_(sink),
      threads_(threads),
      stop_(stop),
      posts_(posts),
      open_messages_(rules, counts_, sink_, OpenMessages::kMostOpen, addresses) {}

void Harvest::read_log(Blocks& blocks, Block first, Day latest) {
  const auto read_one = [latest](Block block) { return read_block(std::move(block), latest); };
  const auto use = [&](const LogBlock& read) {
    for (const LogEvent& event : read.events) open_messages_.use(event);
    done_bytes_ = bytes_before_ + blocks.done_bytes();
    return true;
  };
  use(read_one(std::move(first)));
  for_each_block_in_turn(blocks, 1, threads_, read_one, use);
}

void Harvest::read_lines(Blocks& blocks, Block first, SourceReader& reader, BytesRead& of_user, bool is_found) {
  const BytesRead before = of_user;
  do {
    of_user.text += first.text.size();
    of_user.stored = before.stored + blocks.done_bytes();
    if (is_found) require_likely_size(blocks, before, of_user.text - before.text);
    reader.read(first.text);
    done_bytes_ = bytes_before_ + blocks.done_bytes();
  } while (reader.wants_more() && blocks.next(first));
  reader.finish();
}

bool Harvest::is_read(SourceKind kind, const SourcePlace& place) const noexcept {
  switch (kind) {
    case SourceKind::message:
    case SourceKind::mbox:
      return true;
    case SourceKind::vcard:
    case SourceKind::csv:
      return !place.is_found || rules_.address_books;
    case SourceKind::log:
      return !place.is_found;
  }
  return false;
}

std::unique_ptr<SourceReader> Harvest::reader_of(SourceKind kind, const std::string& path, const SourcePlace& place) {
  const Users users = place.users;
  if (users.empty() && (kind == SourceKind::message || kind == SourceKind::mbox || kind == SourceKind::vcard)) {
    throw unknown_user(path);
  }
  if (!place.is_found && (kind == SourceKind::vcard || kind == SourceKind::csv)) {
    for (const std::string& user : users) sink_.lift_limit(user);
  }
  switch (kind) {
    case SourceKind::message:
      return std::make_unique<MailReader>(rules_, users, counts_, sink_, false, posts_);
    case SourceKind::mbox:
      return std::make_unique<MailReader>(rules_, users, counts_, sink_, true, posts_);
    case SourceKind::vcard:
      return std::make_unique<VcardReader>(rules_, counts_, sink_, users);
    case SourceKind::csv:
      return std::make_unique<CsvContactsReader>(rules_, counts_, sink_, users, !place.is_found);
    case SourceKind::log:
      break;
  }
  return nullptr;
}

std::unique_ptr<Blocks> Harvest::open(const std::string& path) const {
  return std::make_unique<Blocks>(std::vector{path}, stop_, false, BlockOrder::in_turn, FileChanges::appended);
}

void Harvest::count_bytes(const Blocks& blocks) noexcept {
  bytes_before_ += std::max(blocks.done_bytes(), blocks.total_bytes());
  done_bytes_ = bytes_before_;
}

SourceContent Harvest::read(const std::string& path, const SourcePlace& place) {
  if (place.is_found && !is_likely_mail(path)) return SourceContent::unknown;
  std::unique_ptr<Blocks> blocks = open(path);
  Block first;
  if (!blocks->next(first) || first.text.empty()) return SourceContent::nothing;
  // copytruncate leaves as many zeros as the log was long before. If they fill more than a block, the line after them
  // is lost.
  while (first.text.find_first_not_of('\0') == std::string_view::npos) {
    if (!blocks->next(first)) return SourceContent::unknown;
  }
  // Only address books are in UTF-16. They are short.
  std::string from_utf16;
  if (is_utf16(first.text) && is_read(SourceKind::csv, place)) {
    std::string bytes(first.text);
    while (bytes.size() <= kMostUtf16Bytes && blocks->next(first)) bytes += first.text;
    if (bytes.size() > kMostUtf16Bytes) return SourceContent::unknown;
    from_utf16 = utf8_of_utf16(bytes);
    first.text = from_utf16;
  }
  const std::optional<SourceKind> kind = recognise_source(first.text);
  if (!kind || !is_read(*kind, place)) return SourceContent::unknown;
  if (*kind == SourceKind::log) {
    read_log(*blocks, std::move(first), last_day_of_file(path));
    count_bytes(*blocks);
    return SourceContent::used;
  }
  const std::unique_ptr<SourceReader> reader = reader_of(*kind, path, place);
  read_lines(*blocks, std::move(first), *reader, read_of_users_[place.users.data()], place.is_found);
  count_bytes(*blocks);
  return reader->has_found() ? SourceContent::used : SourceContent::no_address;
}

SourceContent Harvest::read_received(const std::string& path) {
  const std::unique_ptr<Blocks> blocks = open(path);
  Block first;
  if (!blocks->next(first) || first.text.empty()) return SourceContent::nothing;
  const std::optional<SourceKind> kind = recognise_source(first.text);
  if (kind != SourceKind::message && kind != SourceKind::mbox) return SourceContent::unknown;
  ReceivedReader reader(counts_, *posts_, kind == SourceKind::mbox);
  BytesRead of_file;  // for a file whose user is not known
  read_lines(*blocks, std::move(first), reader, of_file, true);
  count_bytes(*blocks);
  return SourceContent::used;
}

}  // namespace bloomgate
