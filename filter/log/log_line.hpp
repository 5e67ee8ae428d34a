// Reads a line of a mail server's log, for what it says about the recipients of our users. Postfix and Sendmail, in
// syslog's files with either form of date (`Nov 20 10:00:00` or RFC 3339), or in the form of journalctl. Pure; safe
// from any thread.
//
// Such lines also have text that outsiders choose: addresses, host names, the answers of other servers. So a line is
// read from its left, field by field, and never searched for a word that could be inside such a text. What the server
// writes after such a text is found from the right.
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
  message_id,  // Postfix: the message's Message-ID
  automatic,   // a header check has logged a field that only automatic or mailing-list mail has
  sender,      // the sender of the message, and the number of recipients
  login,       // Sendmail: a client has logged in
  delivered,   // a server has accepted it for these recipients
  failed,      // it will never be delivered to them
  removed,     // Postfix: the last line about the message
};

// The texts are parts of the line.
struct LogEvent {
  LogEventKind kind = LogEventKind::removed;
  bool is_sendmail = false;
  std::uint32_t recipients = 0;  // sender
  std::string_view host = {};    // the host that has logged it: queue IDs are unique only there
  std::string_view queue_id = {};
  std::string_view text = {};        // sender: its path; delivered, failed: one path as the sender wrote it, or several
                                     // between commas
  std::string_view login = {};       // login, received: the name with which the client has logged in
  std::string_view origin = {};      // received: the queue ID before a content filter
  std::string_view message_id = {};  // message_id, sender of Sendmail: in its brackets
  std::string_view alias = {};       // delivered, failed of Sendmail: the address that led to these recipients; it may
                                     // be the sender's own
  std::string_view process = {};     // login, sender of Sendmail: the process that had the connection,
  std::string_view relay = {};       // and its client
  std::optional<std::chrono::sys_days> day = {};
};

// Nothing for other lines, which are the most. No line is later than `latest`; without `latest`, the day of the event
// is not known.
std::optional<LogEvent> read_log_line(std::string_view line, std::optional<std::chrono::sys_days> latest = {}) noexcept;

// Whether the line begins like a log's lines: with a date, a host and a program.
bool is_log_line(std::string_view line) noexcept;

// Removes the first path from a list of paths between commas, and returns it. Commas between quotes or angle brackets
// do not count.
std::string_view take_path(std::string_view& paths) noexcept;

}  // namespace bloomgate
