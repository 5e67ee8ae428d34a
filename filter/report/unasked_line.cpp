#include "filter/report/unasked_line.hpp"

#include "filter/log/syslog_line.hpp"

namespace bloomgate {
namespace {

// `warning: connect to Milter service unix:/run/bloomgate/milter.sock: Connection refused`; or, if a milter ended in
// the middle of a session, `warning: milter unix:/run/bloomgate/milter.sock: can't read SMFIC_MAIL reply packet header:
// …`
std::optional<UnaskedLine> read_postfix(std::string_view text) noexcept {
  UnaskedLine read;
  if (!take(text, "warning: connect to Milter service ")) {
    if (!take(text, "warning: milter ") || text.find(": can't read SMFIC_") == std::string_view::npos)
      return std::nullopt;
  }
  if (!take_until(text, ": ", read.milter)) return std::nullopt;
  read.why = text;
  return read;
}

// `4AB12: Milter (bloomgate): to error state`
std::optional<UnaskedLine> read_sendmail(std::string_view text) noexcept {
  UnaskedLine read;
  std::string_view id;
  if (!take_until(text, ": ", id) || !take(text, "Milter (") || !take_until(text, "): ", read.milter))
    return std::nullopt;
  if (text != "to error state") return std::nullopt;
  read.why = text;
  return read;
}

}  // namespace

std::optional<UnaskedLine> read_unasked_line(std::string_view line) noexcept {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::optional<SyslogLine> found = read_syslog_line(line);
  if (!found) return std::nullopt;
  std::optional<UnaskedLine> read;
  if (found->program.ends_with("/smtpd") || found->program.ends_with("/cleanup")) {
    read = read_postfix(found->text);
  } else if (found->program == "sm-mta" || found->program == "sendmail") {
    read = read_sendmail(found->text);
  }
  if (read) read->date = found->date;
  return read;
}

}  // namespace bloomgate
