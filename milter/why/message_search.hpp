// Finds messages in the daemon's log by their queue ID or by their sender. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/log/daemon_line.hpp"
#include "filter/log/log_times.hpp"
#include "milter/why/why_sentence.hpp"

namespace bloomgate {

// One message of the log. Each text is printable ASCII, as in the line.
struct FoundMessage {
  std::optional<LogTime> time;  // nothing: the line has an invalid date
  std::string queue_id, sender, header_from, decision, reason;
  std::string why;
};

class MessageSearch {
 public:
  // The most messages that are kept: the last ones.
  static constexpr std::size_t kMost = 10;

  // `subject` is a queue ID, or an address with an `@`: of the envelope sender or of From, `joe@example.org`, `Joe
  // <joe@example.org>`, `@example.org` for each address of a domain, `@.example.org` for those below it, too, or `<>`
  // for the null sender. The case is ignored. `add_listed` as in why_sentence().
  MessageSearch(std::string_view subject, LogTime now, AddListed add_listed = {});

  // The most bytes of a line of a log.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

  // Reads a log to its end, whatever was read before it. Throws BloomgateError{bad_input} with its `name` for a longer
  // line, and at the end if the log has NUL bytes and no line of the daemon.
  void read(std::istream& log, const std::string& name);

  // The last kMost messages, the oldest first.
  std::vector<FoundMessage> messages() const;

  bool is_by_sender() const noexcept { return is_by_sender_; }
  // An address, not a domain or a queue ID.
  bool is_by_address() const noexcept { return is_by_sender_ && wanted_.find('@', 1) != std::string::npos; }
  // As it was typed, without brackets and a name.
  const std::string& asked() const noexcept { return asked_; }
  // The subject in the form for comparisons: printable ASCII.
  const std::string& subject() const noexcept { return wanted_; }
  std::uint64_t found() const noexcept { return found_; }
  std::uint64_t lines() const noexcept { return lines_; }
  std::uint64_t daemon_lines() const noexcept { return daemon_lines_; }
  std::uint64_t decisions() const noexcept { return decisions_; }

 private:
  void read_line(std::string_view line);
  bool is_wanted(const DecisionLine& line) const;
  bool is_wanted_sender(std::string_view sender) const;
  void keep_last();

  std::string asked_;
  std::string wanted_;
  bool is_by_sender_;
  LogTimes times_;
  AddListed add_listed_;
  std::vector<FoundMessage> kept_;
  std::uint64_t found_ = 0;
  std::uint64_t lines_ = 0;
  std::uint64_t daemon_lines_ = 0;
  std::uint64_t decisions_ = 0;  // lines that report a message's decision
};

}  // namespace bloomgate
