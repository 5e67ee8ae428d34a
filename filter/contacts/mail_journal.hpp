// The mail servers' part of systemd's journal, as a source: Debian has no mail.log unless rsyslog is installed. For one
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "filter/contacts/harvest.hpp"
#include "filter/log/journal.hpp"

namespace bloomgate {

class MailJournal {
 public:
  // Starts journalctl. It begins after the position in the first line of the file `cursor`; if that position no longer
  // exists, or if the path is empty, at the journal's start. Throws BloomgateError{cannot_open, cannot_read,
  // cannot_write}.
  explicit MailJournal(std::string cursor);

  // Opens the messages that were under way at that position, which the other lines of the file name, and reads the
  // journal to its end. The result is `nothing` if it was read from its start and has no line of these units. If
  // journalctl fails without a line after that position, for example if the file is damaged, reads the journal from its
  // start, with a warning. Throws what Harvest::read() and Journal::finish() throw.
  static constexpr std::string_view kUnits = "the units postfix* and sendmail*";
  SourceContent read(Harvest& harvest);

  // Stores in the file where the journal ended, and which messages were under way there. Call it only when the results
  // are in a list: otherwise they would be lost. Throws BloomgateError{cannot_write}.
  void keep_place() const;

 private:
  SourceContent read_lines(Harvest& harvest);

  std::string cursor_;
  std::string kept_;  // the file's content; also empty if its position is not used
  std::string under_way_;
  std::optional<Journal> journal_;
};

}  // namespace bloomgate
