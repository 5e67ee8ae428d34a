// The mail servers' part of systemd's journal, as a source: Debian has no mail.log unless rsyslog is installed. For one
// thread.
#pragma once

#include <string>

#include "filter/cli/harvest/harvest.hpp"
#include "filter/cli/journal.hpp"

namespace bloomgate::cli {

class MailJournal {
 public:
  // Starts journalctl. It begins behind the place that the file `cursor` names; where that is not there, and with an
  // empty path, at the journal's start. Throws BloomgateError{cannot_open, cannot_write}.
  explicit MailJournal(std::string cursor);

  // Reads it to its end. Throws what Harvest::read() and Journal::finish() throw.
  void read(Harvest& harvest);

  // Keeps in the file where it ended. Only once what was found is in a list: else nobody would read it again. Throws
  // BloomgateError{cannot_write}.
  void keep_place() const;

 private:
  std::string cursor_;
  Journal journal_;
};

}  // namespace bloomgate::cli
