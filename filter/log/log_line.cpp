#include "filter/log/log_line.hpp"

#include <algorithm>
#include <charconv>

#include "filter/base/ascii.hpp"
#include "filter/log/log_times.hpp"
#include "filter/log/syslog_line.hpp"
#include "filter/mail/automatic_mail.hpp"
#include "filter/mail/calendar_text.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMostQueueIdBytes = 32;

// Removes what may come before the first line of a file: a byte-order mark; or zeros, if a log was copied and cut while
// its server wrote to it.
std::string_view without_start_of_file(std::string_view line) noexcept {
  return ascii::trimmed_front(ascii::without_byte_order_mark(line), std::string_view("\0", 1));
}

// Removes the time that `docker logs -t` and `kubectl logs --timestamps` add before a line, which has its own.
std::string_view without_first_date(std::string_view line) noexcept {
  std::string_view rest = line;
  if (!take_log_date(rest)) return line;
  std::string_view behind = rest;
  return take_log_date(behind) ? rest : line;
}

// Removes what `docker compose logs` and `kubectl logs --prefix` add before a line: `mailserver-1  | `,
// `[pod/mail-0/postfix] `.
std::string_view without_container(std::string_view line) noexcept {
  line = without_start_of_file(line);
  constexpr std::size_t kMostBytes = 80;
  constexpr std::string_view kBehindName = "| ";
  constexpr std::string_view kBehindPod = "] ";
  if (const std::size_t end = line.substr(0, kMostBytes).find(kBehindPod);
      line.starts_with("[pod/") && end < kMostBytes) {
    return without_first_date(line.substr(end + kBehindPod.size()));
  }
  const std::size_t end = line.substr(0, kMostBytes).find(kBehindName);
  if (end == std::string_view::npos) return without_first_date(line);
  const std::string_view name = ascii::trimmed_back(line.substr(0, end), " ");
  const auto is_of_name = [](char c) { return ascii::is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; };
  if (!name.empty() && std::ranges::all_of(name, is_of_name)) line.remove_prefix(end + kBehindName.size());
  return without_first_date(line);
}

bool take_queue_id(std::string_view& line, std::string_view& id) noexcept {
  const auto* const stop = std::ranges::find_if_not(line, ascii::is_letter_or_digit);
  const auto end = static_cast<std::size_t>(stop - line.begin());
  if (end < 5 || end > kMostQueueIdBytes || !line.substr(end).starts_with(": ")) return false;
  id = line.substr(0, end);
  line.remove_prefix(end + 2);
  return id != "NOQUEUE";
}

// Where a path or a list of paths ends: at a comma that is neither between quotes nor between angle brackets.
std::size_t path_end(std::string_view text) noexcept {
  bool in_quotes = false;
  bool in_brackets = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_quotes) {
      if (c == '\\') ++at;
      if (c == '"') in_quotes = false;
    } else if (c == '"') {
      in_quotes = true;
    } else if (c == '<') {
      in_brackets = true;
    } else if (c == '>') {
      in_brackets = false;
    } else if (c == ',' && !in_brackets) {
      return at;
    }
  }
  return text.size();
}

// The value of the field `name=`, among fields between commas and spaces, whose values may be paths. Stops where the
// fields are followed by free text.
std::string_view field(std::string_view text, std::string_view name) noexcept {
  while (!text.empty()) {
    const std::size_t end = path_end(text);
    std::string_view one = text.substr(0, end);
    if (take(one, name)) return one;
    text.remove_prefix(std::min(end + 1, text.size()));
    take(text, " ");
  }
  return {};
}

// The value of the last field `, name=`, for text that a server writes after a text that the client has chosen.
std::string_view last_field(std::string_view text, std::string_view name) noexcept {
  const std::size_t at = text.rfind(name);
  return at == std::string_view::npos ? std::string_view{} : field(text.substr(at), name);
}

std::uint32_t number(std::string_view text) noexcept {
  std::uint32_t value = 0;
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{} ? value : 0;
}

bool is_one_of(std::string_view name, auto... names) noexcept {
  return ((name == names) || ...);
}

// Whether the text has `method=` of an answer. In a log a fold is `?`, and more text follows the field, so this does
// not follow the full grammar.
bool has_answering_method(std::string_view text) noexcept {
  constexpr std::string_view kMethod = "method";
  const std::size_t at = ascii::find_ignoring_case(text, kMethod);
  if (at == std::string_view::npos) return false;
  text.remove_prefix(at + kMethod.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t?=\""), text.size()));
  const auto* const end = std::ranges::find_if_not(text, ascii::is_letter);
  return is_answering_method(text.substr(0, static_cast<std::size_t>(end - text.begin())));
}

// Whether the text begins with a client in Postfix's form: `unknown[192.0.2.7];`, or `local;` for a program.
bool begins_with_client(std::string_view text) noexcept {
  const std::string_view client = text.substr(0, text.find_first_of("; "));
  if (!text.substr(client.size()).starts_with(';')) return false;
  const std::size_t address = client.find('[');
  const std::size_t end = client.find(']');
  return client == "local" || (address > 0 && address < end && end != std::string_view::npos);
}

// A field as a header check logs it, without the ` from unknown[192.0.2.7]; from=<…> to=<…> …` after it. The value may
// contain text of that form, so the last one counts.
std::string_view without_client(std::string_view text) noexcept {
  constexpr std::string_view kFrom = " from ";
  for (std::size_t at = text.rfind(kFrom); at != std::string_view::npos; at = text.rfind(kFrom, at - 1)) {
    if (begins_with_client(text.substr(at + kFrom.size()))) return text.substr(0, at);
    if (at == 0) break;
  }
  return text;
}

bool is_automatic_field(std::string_view text) noexcept {
  text = without_client(text);
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view name = text.substr(0, colon);
  const std::string_view value = text.substr(colon + 1);
  if (says_automatic(name, value)) return true;
  return ascii::equal_ignoring_case(ascii::trimmed_back(name, " \t"), "Content-Type") &&
         ascii::find_ignoring_case(value, "text/calendar") != std::string_view::npos && has_answering_method(value);
}

// Reads the paths of `to=<…>,<…>, …` and `from=<…>, …`; leaves the fields after them.
bool take_path_field(std::string_view& text, std::string_view name, std::string_view& path) noexcept {
  if (!take(text, name)) return false;
  std::size_t end = path_end(text);
  while (end < text.size() && !text.substr(end).starts_with(", ")) end += 1 + path_end(text.substr(end + 1));
  path = text.substr(0, end);
  text.remove_prefix(end);
  return take(text, ", ");
}

// A content filter that discards a message accepts it: `sent (250 2.7.0 Ok, discarded, id=…)`. `status` is a part of
// the line's text, and the server's answer follows it.
bool is_discarded(std::string_view text, std::string_view status) noexcept {
  constexpr std::string_view kWord = "discarded";
  text.remove_prefix(static_cast<std::size_t>(status.data() - text.data()));
  return ascii::find_ignoring_case(text, kWord) != std::string_view::npos;
}

std::optional<LogEvent> read_postfix(std::string_view agent, std::string_view text, LogEvent event) noexcept {
  if (agent == "qmgr") {
    if (text == "removed") {
      event.kind = LogEventKind::removed;
      return event;
    }
    if (!take_path_field(text, "from=", event.text)) return std::nullopt;
    const std::string_view recipients = field(text, "nrcpt=");
    if (recipients.empty()) return std::nullopt;  // `status=expired, returned to sender`
    event.kind = LogEventKind::sender;
    event.recipients = number(recipients);
    return event;
  }
  if (agent == "smtpd") {
    if (!take(text, "client=")) return std::nullopt;
    event.kind = LogEventKind::received;
    event.login = field(text, "sasl_username=");
    event.origin = field(text, "orig_queue_id=");
    return event;
  }
  if (agent == "pickup") {
    if (!text.starts_with("uid=")) return std::nullopt;
    event.kind = LogEventKind::received;
    return event;
  }
  if (agent == "cleanup") {
    if (take(text, "message-id=")) {
      event.kind = LogEventKind::message_id;
      event.message_id = text;
      return event;
    }
    if (!take(text, "info: header ") || !is_automatic_field(text)) return std::nullopt;
    event.kind = LogEventKind::automatic;
    return event;
  }
  if (!is_one_of(agent, "smtp", "lmtp", "pipe", "error") || !take_path_field(text, "to=", event.text)) {
    return std::nullopt;
  }
  // The user's contact is the address before an alias, and not the one after it.
  take_path_field(text, "orig_to=", event.text);
  // The last field, with the other server's words after it: the text before it has no spaces.
  const std::string_view status = field(text, "status=");
  if (status.starts_with("sent ") && agent != "error") {
    event.kind = is_discarded(text, status) ? LogEventKind::failed : LogEventKind::delivered;
  } else if (status.starts_with("bounced ")) {
    event.kind = LogEventKind::failed;
  } else {
    return std::nullopt;
  }
  return event;
}

// `<ann@ours.example> (1000/1000)` -> `<ann@ours.example>`
std::string_view without_user_id(std::string_view address) noexcept {
  const std::size_t at = address.rfind(" (");
  return at != std::string_view::npos && address.ends_with(')') ? address.substr(0, at) : address;
}

std::optional<LogEvent> read_sendmail(std::string_view text, LogEvent event) noexcept {
  if (take_path_field(text, "from=", event.text)) {
    event.kind = LogEventKind::sender;
    event.recipients = number(field(text, "nrcpts="));
    event.message_id = field(text, "msgid=");
    event.relay = last_field(text, "relay=");  // after the Message-ID, in which the client may have put another one
    return event;
  }
  if (!take_path_field(text, "to=", event.text)) return std::nullopt;
  if (take_path_field(text, "ctladdr=", event.alias)) event.alias = without_user_id(event.alias);
  const std::string_view status = field(text, "stat=");
  if (status.starts_with("Sent")) {
    event.kind = is_discarded(text, status) ? LogEventKind::failed : LogEventKind::delivered;
  } else if (!status.empty() && !status.starts_with("Deferred") && !status.starts_with("queued")) {
    event.kind = LogEventKind::failed;
  } else {
    return std::nullopt;
  }
  return event;
}

std::optional<LogEvent> read_event(const SyslogLine& read) noexcept {
  LogEvent event = {.host = read.host, .process = read.process};
  const std::size_t slash = read.program.rfind('/');
  event.is_sendmail = is_one_of(read.program, "sm-mta", "sendmail", "sm-que");
  if (!event.is_sendmail && slash == std::string_view::npos) return std::nullopt;
  std::string_view text = read.text;
  const bool has_id = take_queue_id(text, event.queue_id);
  if (event.is_sendmail && take(text, "AUTH=server, ")) {
    event.kind = LogEventKind::login;
    event.relay = field(text, "relay=");
    event.login = field(text, "authid=");
    return event;
  }
  if (!has_id) return std::nullopt;
  return event.is_sendmail ? read_sendmail(text, event) : read_postfix(read.program.substr(slash + 1), text, event);
}

}  // namespace

std::string_view take_path(std::string_view& paths) noexcept {
  const std::size_t end = path_end(paths);
  const std::string_view path = paths.substr(0, end);
  paths.remove_prefix(std::min(end + 1, paths.size()));
  return path;
}

bool is_log_line(std::string_view line) noexcept {
  return read_syslog_line(without_container(line)).has_value();
}

std::optional<LogEvent> read_log_line(std::string_view line, std::optional<std::chrono::sys_days> latest) noexcept {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::optional<SyslogLine> read = read_syslog_line(without_container(line));
  if (!read) return std::nullopt;
  std::optional<LogEvent> event = read_event(*read);
  if (event && latest) event->day = day_of_log_date(read->date, *latest);
  return event;
}

}  // namespace bloomgate
