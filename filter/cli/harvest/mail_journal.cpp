#include "filter/cli/harvest/mail_journal.hpp"

#include <filesystem>
#include <utility>
#include <vector>

#include "filter/base/error.hpp"

namespace bloomgate::cli {
namespace {

namespace fs = std::filesystem;

// journalctl writes it as soon as it has printed all.
std::string next_of(const std::string& cursor) {
  return cursor + ".new";
}

std::vector<std::string> part_behind(const std::string& cursor) {
  // Instances of these units, too: postfix@-.service.
  std::vector<std::string> part = {"--unit=postfix*", "--unit=sendmail*"};
  if (cursor.empty()) return part;
  const std::string next = next_of(cursor);
  std::error_code error;
  if (fs::exists(cursor, error)) {
    fs::copy_file(cursor, next, fs::copy_options::overwrite_existing, error);
  } else if (!error) {
    fs::remove(next, error);
  }
  if (error) throw system_error(ErrorCode::cannot_write, "write", next, error.value());
  part.push_back("--cursor-file=" + next);
  return part;
}

}  // namespace

MailJournal::MailJournal(std::string cursor) : cursor_(std::move(cursor)), journal_(part_behind(cursor_)) {}

void MailJournal::read(Harvest& harvest) {
  harvest.read(journal_.path(), {});
  journal_.finish();
}

void MailJournal::keep_place() const {
  if (cursor_.empty()) return;
  std::error_code error;
  // Without a line there is no place, and the one before still holds.
  if (!fs::exists(next_of(cursor_), error) && !error) return;
  if (!error) fs::rename(next_of(cursor_), cursor_, error);
  if (error) throw system_error(ErrorCode::cannot_write, "write", cursor_, error.value());
}

}  // namespace bloomgate::cli
