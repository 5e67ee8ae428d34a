#include "milter/lists/list_file_edit.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "filter/address/pair.hpp"
#include "filter/base/error.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_stamp.hpp"
#include "filter/system/replacement.hpp"
#include "milter/lists/exact_list_file.hpp"

namespace bloomgate {
namespace {

constexpr int kMostEdits = 5;
constexpr int kMostExchanges = 100;
constexpr mode_t kMode = 0644;  // of a list that has just disappeared
constexpr int kMostLookings = 200;
constexpr std::chrono::milliseconds kBetweenLookings{50};

// The list's real path: a link to it stays a link.
std::string resolved(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (!error) return target.string();
  if (error.value() == ENOENT) {
    // Not created here: otherwise a lost list would be replaced by one with only today's entries.
    throw BloomgateError(ErrorCode::cannot_open,
                         path +
                             " is not there; put it back if it was lost, or make an empty one: install -m 644 "
                             "/dev/null " +
                             path,
                         {.path = path});
  }
  throw system_error(ErrorCode::cannot_open, "open", path, error.value());
}

// Allows one edit at a time. The lock is released with the descriptor. Some file systems have no locks; there, the
// second check of the file has to be enough.
FileDescriptor lock_folder(const std::string& folder) {
  FileDescriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.is_open()) throw replacement_error("open the folder", folder, errno);
  for (int looking = 0; flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++looking) {
    if (looking == kMostLookings) {
      throw BloomgateError(ErrorCode::cannot_write,
                           "another program holds the lock of " + folder + "; find it with lsof, and try again",
                           {.path = folder});
    }
    std::this_thread::sleep_for(kBetweenLookings);
  }
  return file;
}

std::string line_of(const Entry& entry) {
  const auto in_brackets = [](std::string_view key) { return "<" + std::string(key) + ">"; };
  if (!entry.key().starts_with('#')) return entry_text(entry.key());  // else it would be a comment
  if (entry.kind() == EntryKind::with_signer) {
    const SignerSides with_signer = sides_of_signer_key(entry.key());
    return in_brackets(with_signer.entry).append(kSignerSign).append(with_signer.signer);
  }
  if (!entry.is_pair()) return in_brackets(entry.key());
  const PairSides sides = sides_of_pair(entry.key());
  return in_brackets(sides.sender) + " > " + std::string(sides.recipient);
}

// The text without the lines of these keys.
std::string without(std::string_view text, const std::set<std::string_view>& keys, std::set<std::string>& found) {
  std::string kept;
  while (!text.empty()) {
    const std::size_t end = first_line_bytes(text);
    const Entry entry = canonicalize_list_line(text.substr(0, end));
    if (entry.is_key() && keys.contains(entry.key())) {
      found.emplace(entry.key());
    } else {
      kept.append(text.substr(0, end));
    }
    text.remove_prefix(end);
  }
  return kept;
}

struct stat status_of(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) throw system_error(ErrorCode::cannot_open, "open", path, errno);
  return status;
}

// The edited list. It replaces the text that was read, and never a text that another program has saved since.
class EditedFile {
 public:
  explicit EditedFile(const std::string& path) : path_(path), file_(path, temporary_path(path), kMode) {}

  void write(const std::string& text) {
    file_.write(text);
    file_.sync();
  }

  // Returns false and changes nothing if the list has changed because an editor has saved it.
  bool replaces(const FileStamp& before, const FileDescriptor& folder) {
    if (stamp_of(path_) != before) return false;
    if (const int error = exchange(); error == EINVAL || error == ENOSYS || error == EOPNOTSUPP) {
      file_.put_in_place();  // this file system cannot exchange
      return true;
    } else if (error != 0) {
      throw replacement_error("replace", path_, error);
    }
    // The exchanged file is the one that had the name at that very moment: an editor may have saved since the check
    // above.
    file_.release();
    const bool is_as_before = stamp_of(file_.temporary()) == before;
    if (!is_as_before) put_back_what_others_saved();
    unlink(file_.temporary().c_str());
    if (is_as_before && fsync(folder.get()) != 0) throw replacement_error("sync the folder of", path_, errno);
    return is_as_before;
  }

 private:
  static std::string temporary_path(const std::string& path) {
    const std::filesystem::path file(path);
    return (file.parent_path() / ("." + file.filename().string() + ".edit")).string();
  }

  static FileStamp stamp_of(const std::string& path) { return FileStamp(status_of(path)); }

  int exchange() const {
    const char* const temporary = file_.temporary().c_str();
    return renameat2(AT_FDCWD, temporary, AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0 ? 0 : errno;
  }

  // An editor may save once more while the new text has the name. Then the editor's last save stays.
  void put_back_what_others_saved() {
    FileStamp in_place = *FileStamp::of(file_.descriptor());
    for (int exchanges = 0; exchanges < kMostExchanges; ++exchanges) {
      const FileStamp out = stamp_of(file_.temporary());
      if (exchange() != 0) break;
      if (stamp_of(file_.temporary()) == in_place) return;
      in_place = out;
    }
    throw BloomgateError(ErrorCode::cannot_write,
                         path_ + " was saved by another program while it was edited; what that program saved is in " +
                             file_.temporary() + "; put it back with mv",
                         {.path = path_});
  }

  const std::string path_;
  Replacement file_;
};

struct Change {
  std::string text;
  EditedList result;
};

void put_in(Change& change, std::span<const Entry> entries, const ExactList& list) {
  if (!change.text.empty() && !change.text.ends_with('\n')) change.text += '\n';
  for (const Entry& entry : entries) {
    const bool was_there = list.has(entry);
    const auto same = [&](const EditedEntry& other) { return other.entry == line_of(entry); };
    const bool is_given_twice = std::ranges::any_of(change.result.entries, same);
    change.result.entries.push_back({line_of(entry), !was_there && !is_given_twice});
    if (change.result.entries.back().has_changed) change.text += line_of(entry) + '\n';
  }
}

void take_out(Change& change, std::span<const Entry> entries) {
  std::set<std::string_view> keys;
  for (const Entry& entry : entries) keys.insert(entry.key());
  std::set<std::string> found;
  change.text = without(change.text, keys, found);
  for (const Entry& entry : entries) {
    change.result.entries.push_back({line_of(entry), found.contains(std::string(entry.key()))});
  }
}

// The forms in which a list may contain a side of a pair so that it covers all of `side`: the side itself, and the
// domains above it.
std::vector<std::string> wider_sides(std::string_view side) {
  std::string_view domain = side.substr(side.rfind('@') + 1);
  const bool is_address = !side.starts_with('@');
  // An address may begin with the character that starts a comment.
  std::vector<std::string> sides = {is_address ? "<" + std::string(side) + ">" : std::string(side)};
  if (is_address) sides.push_back("@" + std::string(domain));
  const auto go_up = [&domain] { domain.remove_prefix(std::min(domain.find('.'), domain.size() - 1) + 1); };
  if (domain.starts_with('.')) {
    domain.remove_prefix(1);
    go_up();
  }
  for (; !domain.empty(); go_up()) sides.push_back("@." + std::string(domain));
  return sides;
}

// The entry of the list that covers every pair of these sides; empty: there is none.
std::string wider_entry(const ExactList& list, const PairSides& sides) {
  for (const std::string& sender : wider_sides(sides.sender)) {
    const Entry alone = canonicalize_line(sender);
    if (list.has(alone)) return std::string(alone.key());
    for (const std::string& recipient : wider_sides(sides.recipient)) {
      const Entry pair = canonicalize_pair(sender, recipient);
      if (list.has(pair)) return entry_text(pair.key());
    }
  }
  return {};
}

// The same for a domain entry: the entry that covers all of it.
std::string wider_domain(const ExactList& list, std::string_view key) {
  for (const std::string& side : wider_sides(key)) {
    if (list.has(canonicalize_line(side))) return side;
  }
  return {};
}

// The same for an entry with a signer. The entry itself must not be in the list.
std::string wider_with_signer(const ExactList& list, const SignerSides& sides) {
  return std::string(list.find_with_signer(canonicalize_list_line(sides.entry), sides.signer, {}).view());
}

std::string other_entry(const ExactList& list, const Entry& entry, TagSeparators separators) {
  if (entry.kind() == EntryKind::pair) {
    const PairSides sides = sides_of_pair(entry.key());
    const Entry sender = canonicalize_path(sides.sender);
    const FoundEntry alone = list.find(sender, separators);
    if (alone.match == Match::address) {
      return list.has(sender) ? std::string(sides.sender) : "the sender without its tag";
    }
    if (alone.is_listed()) return std::string(alone.domain_entry().view());
    const FoundPair wider = list.find_pair(sender, canonicalize_path(sides.recipient), separators, separators);
    return entry_text(wider.key.view());
  }
  if (entry.kind() == EntryKind::domain_pair) return wider_entry(list, sides_of_pair(entry.key()));
  if (entry.kind() == EntryKind::with_signer) return wider_with_signer(list, sides_of_signer_key(entry.key()));
  if (entry.kind() == EntryKind::domain || entry.kind() == EntryKind::domain_tree) {
    return wider_domain(list, entry.key());
  }
  const FoundEntry found = list.find(entry, separators);
  if (is_mailing_list_key(entry.key())) return std::string(found.domain_entry().view());
  if (found.match == Match::domain || found.match == Match::domain_tree) {
    return std::string(found.domain_entry().view());
  }
  return found.is_listed() && !list.has(entry) ? "the address without its tag" : "";
}

// The new text, or that there is nothing to do.
Change changed(const std::string& path, std::span<const Entry> entries, ListChange change, TagSeparators separators,
               ListOf of, std::uint64_t most_bytes) {
  Change made{read_list_text(path, most_bytes), {}};
  const ExactList before = read_exact_list(path, made.text, of).list;
  if (change == ListChange::put_in) {
    put_in(made, entries, before);
  } else {
    take_out(made, entries);
  }
  if (made.text.size() > most_bytes) {
    throw BloomgateError(
        ErrorCode::bad_input,
        path + " would have more than " + std::to_string(most_bytes) + " bytes; put a list of that size into a filter",
        {.path = path});
  }
  const ExactList after = read_exact_list(made.text, of).list;
  made.result.size = after.size();
  for (std::size_t i = 0; change == ListChange::take_out && i < entries.size(); ++i) {
    EditedEntry& edited = made.result.entries[i];
    edited.covered_by = other_entry(after, entries[i], separators);
    if (edited.covered_by.empty()) edited.conditional = after.conditional_entries(entries[i], separators);
  }
  return made;
}

}  // namespace

std::vector<Entry> entries_of_words(std::span<const std::string> words, ListOf of) {
  const std::string entries_are =
      of == ListOf::recipients ? "ann@ours.example, @ours.example or @.ours.example"
                               : "joe@example.org, @example.org, @.example.org, list:news.lists.example, one of these "
                                 "with 'signed-by example.net' behind it, or 'joe@example.org > ann@ours.example' for "
                                 "one recipient";
  std::vector<Entry> entries;
  for (const std::string& word : words) {
    const Entry& entry = entries.emplace_back(canonicalize_list_line(word));
    std::string why = misplaced_text(entry, of);
    if (entry.is_key() && why.empty()) continue;
    if (entry.kind() == EntryKind::rejected) why = reject_text(entry);
    if (entry.kind() == EntryKind::blank) {
      why = word.find('#') != std::string::npos
                ? "it is a comment; write an address that begins with # in angle brackets"
                : "it is empty";
    }
    if (const std::size_t i = entries.size() - 1; word == "signed-by" && i > 0 && i + 1 < words.size()) {
      throw BloomgateError(ErrorCode::bad_input,
                           "put the whole entry into quotes: " +
                               shell_word(words[i - 1] + " signed-by " + words[i + 1], "'ADDRESS signed-by DOMAIN'") +
                               ". Nothing was changed");
    }
    throw BloomgateError(ErrorCode::bad_input, "'" + printable(word) + "' is no entry: " + why + "; an entry is " +
                                                   entries_are + ". Nothing was changed");
  }
  return entries;
}

EditedList edit_list_file(const std::string& path, std::span<const Entry> entries, ListChange change,
                          TagSeparators separators, ListOf of, std::uint64_t most_bytes) {
  const std::string file = resolved(path);
  const FileDescriptor folder = lock_folder(std::filesystem::path(file).parent_path().string());
  for (int edit = 0; edit < kMostEdits; ++edit) {
    const struct stat before = status_of(file);
    Change made = changed(file, entries, change, separators, of, most_bytes);
    if (std::ranges::none_of(made.result.entries, &EditedEntry::has_changed)) return made.result;
    EditedFile fresh(file);
    fresh.write(made.text);
    if (fresh.replaces(FileStamp(before), folder)) return made.result;
  }
  throw BloomgateError(ErrorCode::cannot_write, path + " keeps changing while it is edited; try again", {.path = path});
}

}  // namespace bloomgate
