#include "filter/contacts/mail_journal.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/ingest/dated_lists.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

namespace fs = std::filesystem;

// The file has the addresses of messages that are under way.
constexpr mode_t kModeOfPlace = 0600;

// journalctl writes this file when it has printed all lines.
std::string next_of(const std::string& cursor) {
  return cursor + ".new";
}

[[noreturn]] void cannot(ErrorCode code, const char* verb, const std::string& path, std::error_code error) {
  throw system_error(code, verb, path, error.value());
}

// Empty if there is no such file.
std::string text_of(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    if (error) cannot(ErrorCode::cannot_read, "read", path, error);
    return {};
  }
  return read_text(path);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) cannot(ErrorCode::cannot_write, "write", path, {errno, std::generic_category()});
}

std::size_t end_of_line(const std::string& text) {
  return std::min(text.find('\n'), text.size());
}

std::vector<std::string> part_behind(const std::string& cursor, const std::string& kept) {
  // Includes instances of these units: postfix@-.service. If no unit of the journal matches a pattern, journalctl fails
  // unless a plain name is given, too.
  std::vector<std::string> part = {"--unit=postfix*", "--unit=sendmail*", "--unit=postfix.service"};
  if (cursor.empty()) return part;
  const std::string next = next_of(cursor);
  std::error_code error;
  if (!kept.empty()) {
    write_text(next, kept.substr(0, end_of_line(kept)) + '\n');
  } else if (fs::remove(next, error); error) {
    cannot(ErrorCode::cannot_write, "write", next, error);
  }
  part.push_back("--cursor-file=" + next);
  return part;
}

}  // namespace

MailJournal::MailJournal(std::string cursor)
    : cursor_(std::move(cursor)),
      kept_(cursor_.empty() ? std::string() : text_of(cursor_)),
      journal_(std::in_place, part_behind(cursor_, kept_)) {}

SourceContent MailJournal::read_lines(Harvest& harvest) {
  const SourceContent content = harvest.read(journal_->path(), {});
  try {
    journal_->finish();
  } catch (const BloomgateError&) {
    // The exit status of journalctl does not show whether the cursor was at fault. If it was not, this fails as well.
    if (kept_.empty() || content != SourceContent::nothing) throw;
    kept_.clear();
    harvest.resume({}, today());
    journal_.emplace(part_behind(cursor_, kept_));
    const SourceContent all = read_lines(harvest);
    std::cerr << "bloomgate harvest: journalctl does not accept the position in " << printable(cursor_)
              << ": the journal was read from its start, and the file gets a new position\n";
    return all;
  }
  return content;
}

SourceContent MailJournal::read(Harvest& harvest) {
  harvest.resume(std::string_view(kept_).substr(std::min(end_of_line(kept_) + 1, kept_.size())), today());
  const SourceContent content = read_lines(harvest);
  under_way_ = harvest.under_way(today());
  return kept_.empty() ? content : SourceContent::used;
}

void MailJournal::keep_place() const {
  if (cursor_.empty()) return;
  const std::string next = next_of(cursor_);
  const std::string place = text_of(next);
  // If there was no line, there is no position, and the one before is still valid.
  if (place.empty()) return;
  replace_file(cursor_, place.substr(0, end_of_line(place)) + '\n' + under_way_, kModeOfPlace);
  std::error_code error;
  fs::remove(next, error);
}

}  // namespace bloomgate
