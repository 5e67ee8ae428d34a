// One line of a mail server's log, as far as it tells whom our users write to. Postfix and Sendmail, in syslog's files
// with either form of date (`Nov 20 10:00:00` or RFC 3339), or as journalctl prints them. Pure; safe from any thread.
//
// What a stranger chooses stands in such lines too: addresses, host names, the answers of other servers. So a line is
// read from its left, field by field, and never searched for a word that may stand inside of such a text. What the
// server writes behind one is found from the right.
//
// Sources: the formats are those of Postfix 3.7 (cleanup, qmgr, smtp, smtpd) and of Sendmail 8.17 (logsender() and
// logdelivery()), as the private servers of tests/e2e write them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bloomgate {

enum class LogEventKind : std::uint8_t {
  received,    // Postfix has a new message: from a client (smtpd) or from a program on the same machine (pickup)
  message_id,  // Postfix: the message's own
  automatic,   // a header check has logged a field that only automatic or mailing-list mail has
  sender,      // who sends the message, and to how many
  login,       // Sendmail: a client has logged in
  delivered,   // a server has taken it for these recipients
  failed,      // it never will be
  removed,     // Postfix: nothing more will be said of it
};

// The texts are parts of the line.
struct LogEvent {
  LogEventKind kind = LogEventKind::removed;
  bool is_sendmail = false;
  std::uint32_t recipients = 0;  // sender
  std::string_view host = {};    // that has logged it: queue IDs are its own
  std::string_view queue_id = {};
  std::string_view text = {};        // sender: its path; delivered, failed: one path as the sender wrote it, or several
                                     // between commas
  std::string_view login = {};       // login, received: as whom the client has logged in
  std::string_view origin = {};      // received: the queue ID that it had before a content filter
  std::string_view message_id = {};  // message_id, sender of Sendmail: in its brackets
  std::string_view alias = {};       // delivered, failed of Sendmail: the address through which it came to these
                                     // recipients, the sender's own among them
  std::string_view process = {};     // login, sender of Sendmail: which process had the connection,
  std::string_view relay = {};       // and with whom
  std::optional<std::chrono::sys_days> day = {};
};

// Nothing for the many lines that say nothing of the kind. No line is later than `latest`; without that, the day of the
// event is not known.
std::optional<LogEvent> read_log_line(std::string_view line, std::optional<std::chrono::sys_days> latest = {}) noexcept;

// Whether the line begins as a log's lines do: with a date, a host and a program.
bool is_log_line(std::string_view line) noexcept;

// Takes the first path off a list of them between commas, which do not count between quotes or angle brackets.
std::string_view take_path(std::string_view& paths) noexcept;

}  // namespace bloomgate
