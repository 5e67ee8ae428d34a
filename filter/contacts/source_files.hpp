// The files behind the sources that a command line names, and whose they are. Looks at the disk; for one thread.
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

// Of a Maildir, what is still being delivered, and drafts.
bool is_unsent(const std::filesystem::path& path);

struct SourceFile {
  TimedFile file;
  SourcePlace place;
};

class SourceFiles {
 public:
  // A source is a file, a folder, `-`, or the pattern of users' mailboxes (OwnerPattern). `user` is the key of the one
  // whose the others are; empty if nobody says. Where only the number of users matters, each of these is then another
  // user's. Throws UsageError for a pattern that does not say one name, and what list_files() throws.
  SourceFiles(const std::vector<std::string>& sources, const std::string& user, const OwnerAddresses& addresses,
              const HarvestRules& rules);

  // In the order in which they were written, since a message may begin in one log and end in the next. Of a Maildir,
  // without drafts and what is still being delivered.
  const std::vector<SourceFile>& files() const noexcept { return files_; }
  std::uint64_t total_bytes() const noexcept;

  // How many owners mailboxes were found of, and the names of those of whom no address is known, sorted. Where it
  // matters who has written, the mailboxes of these are left out.
  std::size_t owners() const noexcept { return owners_; }
  const std::vector<std::string>& without_address() const noexcept { return without_address_; }

  // Patterns of which nothing is there.
  const std::vector<std::string>& absent() const noexcept { return absent_; }
  // Folders without a file; and what is no file at users' places, and no folder that can be listed, with the reason.
  std::uint64_t empty_folders() const noexcept { return empty_folders_; }
  const std::vector<std::string>& unreadable() const noexcept { return unreadable_; }

 private:
  void list(const std::vector<std::string>& paths, const std::vector<SourcePlace>& places);

  std::deque<std::vector<std::string>> users_;  // which the places refer to
  std::vector<SourceFile> files_;
  std::vector<std::string> without_address_;
  std::vector<std::string> absent_;
  std::vector<std::string> unreadable_;
  std::size_t owners_ = 0;
  std::uint64_t empty_folders_ = 0;
};

}  // namespace bloomgate
