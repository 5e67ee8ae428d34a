#include "milter/why/message_search.hpp"

#include <algorithm>
#include <utility>

#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/log/daemon_line.hpp"
#include "milter/why/known_decision.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kNullSender = "<>";

// "joe@example.org" of "Joe <joe@example.org>".
std::string_view inside_brackets(std::string_view text) noexcept {
  const std::size_t begin = text.rfind('<');
  if (text == kNullSender || begin == std::string_view::npos || !text.ends_with('>')) return text;
  return text.substr(begin + 1, text.size() - begin - 2);
}

}  // namespace

MessageSearch::MessageSearch(std::string_view subject, LogTime now, AddListed add_listed)
    : is_by_sender_(subject == kNullSender || subject.find('@') != std::string_view::npos),
      times_(now),
      add_listed_(std::move(add_listed)) {
  subject = ascii::trimmed(subject, " \t");
  // Mail servers write a queue ID into their logs in this form: "4XyZ1:".
  if (!is_by_sender_ && (subject.ends_with(':') || subject.ends_with(','))) subject.remove_suffix(1);
  asked_ = is_by_sender_ ? inside_brackets(subject) : subject;
  // Text that was copied from the log is already escaped.
  const bool is_escaped = asked_.find("\\x") != std::string::npos;
  wanted_ = is_escaped ? asked_ : as_logged(asked_);
  if (is_by_sender_) wanted_ = ascii::lower_case(wanted_);
}

bool MessageSearch::is_wanted_sender(std::string_view sender) const {
  if (sender.empty() || sender == "-") return false;
  const std::string own = ascii::lower_case(inside_brackets(sender));
  return wanted_.starts_with('@') ? is_below_entry(wanted_, domain_of(own)) : own == wanted_;
}

bool MessageSearch::is_wanted(const DecisionLine& line) const {
  if (!is_by_sender_) return line.queue_id == wanted_;
  return is_wanted_sender(line.sender) || is_wanted_sender(line.header_from);
}

void MessageSearch::read_line(std::string_view line) {
  ++lines_;
  const std::optional<DaemonLine> daemon = read_daemon_line(line);
  if (!daemon) return;
  ++daemon_lines_;
  const std::optional<DecisionLine> decision = read_decision_line(daemon->text);
  if (!decision) return;
  ++decisions_;
  if (!is_wanted(*decision)) return;
  ++found_;
  kept_.push_back({.time = times_.read(daemon->date),
                   .queue_id = printable(decision->queue_id),
                   .sender = printable(decision->sender),
                   .header_from = printable(decision->header_from),
                   .decision = printable(decision->decision),
                   .reason = printable(decision->reason),
                   .why = why_sentence(*decision, add_listed_)});
  if (kept_.size() >= 2 * kMost) keep_last();
}

// The logs may have been named in any order.
void MessageSearch::keep_last() {
  std::ranges::stable_sort(kept_, {}, &FoundMessage::time);
  if (kept_.size() > kMost) kept_.erase(kept_.begin(), kept_.end() - kMost);
}

void MessageSearch::read(std::istream& log, const std::string& name) {
  const std::uint64_t known_before = daemon_lines_;
  bool has_nul = false;
  std::string buffer(kMaxLineBytes + 1, '\0');
  for (;;) {
    log.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto size = static_cast<std::size_t>(log.gcount());
    if (log.fail() && size == kMaxLineBytes) {
      throw BloomgateError(ErrorCode::bad_input, name + " is not a log: a line of it has more than 1 MiB");
    }
    if (log.fail()) break;
    // The line end is counted, too.
    const std::string_view line = std::string_view(buffer).substr(0, log.eof() ? size : size - 1);
    has_nul = has_nul || line.find('\0') != std::string_view::npos;
    read_line(line);
  }
  // A crash may leave some NUL bytes in a log.
  if (has_nul && daemon_lines_ == known_before) {
    throw BloomgateError(ErrorCode::bad_input,
                         name + " is not a text: it has NUL bytes, and no line of bloomgate-milter; if it is UTF-16, " +
                             "hand it on by iconv -f UTF-16 -t UTF-8 FILE | bloomgate-milter why ... --log -");
  }
}

std::vector<FoundMessage> MessageSearch::messages() const {
  MessageSearch last = *this;
  last.keep_last();
  return last.kept_;
}

}  // namespace bloomgate
