#include "filter/contacts/erase_from_lists.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <system_error>

#include "filter/contacts/forgotten_people.hpp"
#include "filter/ingest/blocks.hpp"
#include "filter/ingest/compressed_writer.hpp"
#include "filter/ingest/decompressor.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/learned/is_of_people.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

namespace fs = std::filesystem;

using People = std::vector<Entry>;

// The list shows who writes to whom, so only the operator may read it.
constexpr mode_t kListMode = 0640;
constexpr std::string_view kTemporary = ".update.forget-";
// The prefix of the folder of a run that is at work.
constexpr std::string_view kUnfinishedRun = ".update.";
// The file for the journal's position, with the messages that were under way at the end of a run.
constexpr std::string_view kJournalCursor = ".journal-cursor";

// If this process is killed, bloomgate-update removes the file.
Replacement beside(const std::string& path) {
  return {path, folder_of(path) + "/" + std::string(kTemporary) + fs::path(path).filename().native(), kListMode};
}

void write_file(const std::string& path, std::string_view text) {
  Replacement file = beside(path);
  file.write(text);
  file.keep_time();
  file.put_in_place();
}

std::string_view take_whole_line(std::string_view& text) noexcept {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
  text.remove_prefix(line.size());
  return line;
}

// Whether one of the people has the key, which is one side of a pair, or an entry that is not a pair. A mailing list
// belongs to no person.
bool is_of_one(std::string_view key, const People& people) noexcept {
  if (is_signer_key(key)) key = sides_of_signer_key(key).entry;
  return !is_mailing_list_key(key) && is_of_people(key, [&people](std::string_view text) noexcept {
    return std::ranges::find(people, text, &Entry::key) != people.end();
  });
}

// Whether an invalid line or a comment has an address of one of the people, between blanks, commas and the like.
bool mentions_one(std::string_view line, const People& people) noexcept {
  constexpr std::string_view kBetween = " \t\r\n,;<>()\"'#|";
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(kBetween), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    if (word.find('@') == std::string_view::npos) continue;
    const Entry entry = canonicalize_path(word);
    if (entry.kind() == EntryKind::address && is_of_one(entry.key(), people)) return true;
  }
  return false;
}

enum class Naming : std::uint8_t { none, entry, other };

Naming naming_of(std::string_view line, const People& people) noexcept {
  const Entry entry = canonicalize_list_line(line);
  if (!entry.is_key()) return mentions_one(line, people) ? Naming::other : Naming::none;
  const auto is_one = [&] {
    if (!entry.is_pair()) return is_of_one(entry.key(), people);
    const auto [sender, recipient] = sides_of_pair(entry.key());
    return is_of_one(sender, people) || is_of_one(recipient, people);
  };
  return is_one() ? Naming::entry : Naming::none;
}

// Calls `use(line, naming)` for each line of the list, with its end.
template <typename Use>
void for_each_line(const std::string& path, const People& people, const std::atomic<bool>& stop, Use use) {
  Blocks blocks({path}, stop, false, BlockOrder::in_turn);
  for (Block block; blocks.next(block);) {
    for (std::string_view text = block.text; !text.empty();) {
      const std::string_view line = take_whole_line(text);
      use(line, naming_of(line, people));
    }
  }
}

Compression compression_of(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) throw system_error(ErrorCode::cannot_open, "open", path, errno);
  std::array<char, kCompressionMarkBytes> start = {};
  const ssize_t bytes = pread(file.get(), start.data(), start.size(), 0);
  if (bytes < 0) throw system_error(ErrorCode::cannot_read, "read", path, errno);
  return recognise_compression({start.data(), static_cast<std::size_t>(bytes)}, true).value_or(Compression::none);
}

void rewrite(const std::string& path, const People& people, const std::atomic<bool>& stop) {
  const Compression compression = compression_of(path);
  if (compression != Compression::none && compression != Compression::zstd) {
    throw BloomgateError(ErrorCode::bad_input,
                         path +
                             " has lines of these people, and only a plain list, or one of zstd, is written anew: "
                             "compress it with zstd, and run this again",
                         {.path = path});
  }
  Replacement list = beside(path);
  CompressedWriter writer(list.descriptor(), path, compression == Compression::zstd);
  for_each_line(path, people, stop, [&](std::string_view line, Naming naming) {
    if (naming != Naming::entry) writer.write(line);
  });
  writer.finish();
  list.keep_time();
  list.put_in_place();
}

void erase_from_list(const std::string& path, const People& people, const std::atomic<bool>& stop, Erased& erased) {
  std::uint64_t lines = 0;
  for_each_line(path, people, stop, [&](std::string_view, Naming naming) {
    lines += naming == Naming::entry ? 1U : 0U;
    erased.lines_of_no_entry += naming == Naming::other ? 1U : 0U;
  });
  ++erased.lists;
  if (lines == 0) return;
  if (!day_of_list(path)) {
    erased.kept_by_hand.push_back(path);
    return;
  }
  rewrite(fs::canonical(path).native(), people, stop);
  ++erased.rewritten;
  erased.lines += lines;
}

void note(const std::string& folder, const People& people) {
  const std::string path = folder + "/" + std::string(ForgottenPeople::kFileName);
  ForgottenPeople forgotten = fs::exists(path) ? ForgottenPeople::read(path) : ForgottenPeople();
  const Day day = last_day_at(std::chrono::system_clock::now());
  for (const Entry& person : people) forgotten.add(person, day);
  write_file(path, forgotten.text());
}

// Its lines have fields with tabs between them; some of these are users' addresses.
void erase_from_cursor(const std::string& folder, const People& people) {
  const std::string path = folder + "/" + std::string(kJournalCursor);
  if (!fs::exists(path)) return;
  const std::string text = read_text(path);
  std::string left;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_whole_line(rest);
    bool is_of_people = false;
    for (std::size_t begin = 0; begin < line.size() && !is_of_people;) {
      const std::size_t end = std::min(line.find_first_of("\t\n", begin), line.size());
      const Entry entry = canonicalize_path(line.substr(begin, end - begin));
      is_of_people = entry.kind() == EntryKind::address && is_of_one(entry.key(), people);
      begin = end + 1;
    }
    if (!is_of_people) left += line;
  }
  if (left != text) write_file(path, left);
}

// The folder is locked, so no run is at work: these files are from runs or commands that were killed.
void remove_leftovers(const std::string& folder) {
  std::vector<fs::path> leftovers;
  for (fs::recursive_directory_iterator at(folder), end; at != end; ++at) {
    const std::string name = at->path().filename().native();
    if (!name.starts_with(at.depth() == 0 ? kUnfinishedRun : kTemporary)) continue;
    leftovers.push_back(at->path());
    at.disable_recursion_pending();
  }
  for (const fs::path& path : leftovers) fs::remove_all(path);
}

// Whether the folder looks like one that bloomgate-update keeps: with a list or a run of some day, or a note of this
// command. The folder of a single run does not count.
bool is_folder_of_lists(const std::string& folder) {
  const auto begins_with_day = [](const fs::path& name) {
    return parse_day(name.native().substr(0, std::string_view("2026-11-20").size())).has_value();
  };
  if (begins_with_day(fs::canonical(folder).filename())) return false;
  return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(), [&](const fs::directory_entry& each) {
    const fs::path name = each.path().filename();
    return begins_with_day(name) || name == ForgottenPeople::kFileName || name == kJournalCursor;
  });
}

}  // namespace

void require_folder_of_lists(const std::string& folder) {
  const auto refuse = [&folder](const char* what) {
    throw BloomgateError(ErrorCode::cannot_open, folder + ": expected the folder of lists, LISTS in update.conf" + what,
                         {.path = folder});
  };
  std::error_code error;
  const bool is_folder = fs::is_directory(folder, error);
  if (!is_folder && error != std::errc::permission_denied) refuse("");
  if (!is_folder || access(folder.c_str(), R_OK | W_OK | X_OK) != 0) {
    throw system_error(ErrorCode::not_permitted, "change the lists (run this as root, as bloomgate-update does) in",
                       folder, is_folder ? errno : EACCES);
  }
  // In any other folder no later run would look for the forgotten people.
  if (!is_folder_of_lists(folder)) {
    refuse("; this one has no list or run of a day, such as 2026-11-20.txt.zst or 2026-11-20T010000");
  }
}

void erase_from_lists(const std::string& folder, const std::vector<Entry>& people, const std::atomic<bool>& stop,
                      Erased& erased) {
  try {
    // This comes first, so that no later run lists these people again if anything fails from here on.
    note(folder, people);
    remove_leftovers(folder);
    erase_from_cursor(folder, people);
    std::vector<std::string> lists;
    try {
      lists = list_files({folder});
    } catch (const BloomgateError& error) {
      if (error.code() != ErrorCode::bad_input) throw;  // there is no list
    }
    for (const std::string& list : lists) {
      try {
        erase_from_list(list, people, stop, erased);
      } catch (const BloomgateError& error) {
        if (error.code() == ErrorCode::interrupted) throw;
        erased.faults.push_back(error);
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw system_error(ErrorCode::cannot_write, "remove people from the lists in", folder, error.code().value());
  }
}

}  // namespace bloomgate
