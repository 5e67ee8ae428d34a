// The files of the sources that a command line names, and their owners. Reads the disk; for one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "filter/contacts/harvest.hpp"
#include "filter/contacts/owners.hpp"
#include "filter/ingest/input_files.hpp"

namespace bloomgate {

// Whether the path is in a Maildir, and is a draft or still being delivered.
bool is_unsent(const std::filesystem::path& path);

struct SourceFile {
  TimedFile file;
  SourcePlace place;
};

class SourceFiles {
 public:
  // A source is a file, a folder, `-`, or the pattern of users' mailboxes (OwnerPattern). `user` is the key of the
  // owner of all sources except patterns; empty if not given. If only the number of users matters, each of these
  // sources then belongs to another user. Throws UsageError for a pattern that does not give one name, and what
  // list_files() throws.
  SourceFiles(const std::vector<std::string>& sources, const std::string& user, const OwnerAddresses& addresses,
              const HarvestRules& rules);

  // In the order in which they were written, since a message may begin in one log and end in the next. In a Maildir,
  // drafts and messages that are still being delivered are left out.
  const std::vector<SourceFile>& files() const noexcept { return files_; }
  std::uint64_t total_bytes() const noexcept;

  // The number of owners of the mailboxes that were found; and, sorted, the names of those without a known address. If
  // the result depends on the user, the mailboxes of the latter are left out.
  std::size_t owners() const noexcept { return owners_; }
  const std::vector<std::string>& without_address() const noexcept { return without_address_; }

  // Patterns without a match.
  const std::vector<std::string>& absent() const noexcept { return absent_; }
  // Folders without a file; and paths of a pattern that are not files, and folders that cannot be listed, with the
  // reason.
  std::uint64_t empty_folders() const noexcept { return empty_folders_; }
  const std::vector<std::string>& unreadable() const noexcept { return unreadable_; }

 private:
  void list(const std::vector<std::string>& paths, const std::vector<SourcePlace>& places);

  std::deque<std::vector<std::string>> users_;  // to which the places refer
  std::vector<SourceFile> files_;
  std::vector<std::string> without_address_;
  std::vector<std::string> absent_;
  std::vector<std::string> unreadable_;
  std::size_t owners_ = 0;
  std::uint64_t empty_folders_ = 0;
};

}  // namespace bloomgate
