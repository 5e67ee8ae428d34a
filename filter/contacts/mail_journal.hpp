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
  // Starts journalctl. It begins behind the place that the first line of the file `cursor` names; where that is not
  // there, and with an empty path, at the journal's start. Throws BloomgateError{cannot_open, cannot_read,
  // cannot_write}.
  explicit MailJournal(std::string cursor);

  // Opens the messages that were under way at that place, which the other lines of the file name, and reads the journal
  // to its end: nothing if it was read from its start and has no line of these units. If journalctl fails without a
  // line behind that place, as where the file is damaged, reads the journal from its start, with a warning. Throws what
  // Harvest::read() and Journal::finish() throw.
  static constexpr std::string_view kUnits = "the units postfix* and sendmail*";
  SourceContent read(Harvest& harvest);

  // Keeps in the file where it ended, and what was under way there. Only once what was found is in a list: else nobody
  // would read it again. Throws BloomgateError{cannot_write}.
  void keep_place() const;

 private:
  SourceContent read_lines(Harvest& harvest);

  std::string cursor_;
  std::string kept_;  // what the file had; empty as well where its place is not used
  std::string under_way_;
  std::optional<Journal> journal_;
};

}  // namespace bloomgate
