#include "filter/contacts/open_messages.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

#include "filter/base/ascii.hpp"
#include "filter/contacts/message_header.hpp"

namespace bloomgate {
namespace {

// Postfix's maximal_queue_lifetime and Sendmail's Timeout.queuereturn are 5 days by default.
constexpr std::chrono::days kMostDays{10};

constexpr std::size_t kFields = 7;

std::optional<std::array<std::string_view, kFields>> fields_of(std::string_view line) noexcept {
  std::array<std::string_view, kFields> fields;
  for (std::size_t at = 0; at < kFields; ++at) {
    const std::size_t end = line.find('\t');
    if ((end == std::string_view::npos) != (at + 1 == kFields)) return std::nullopt;
    fields[at] = line.substr(0, end);
    line.remove_prefix(std::min(fields[at].size() + 1, line.size()));
  }
  return fields;
}

}  // namespace

std::string OpenMessages::id_of(std::string_view host, std::string_view id) {
  return std::string(host) + ' ' + std::string(id);
}

// Includes the client: later, another process may have the same number, for another client.
std::string OpenMessages::login_of(const LogEvent& event) {
  return id_of(event.host, event.process) + ' ' + std::string(event.relay);
}

OpenMessages::Message* OpenMessages::find(const std::string& id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &*found->second;
}

OpenMessages::Message& OpenMessages::open(std::string id, std::optional<Day> day) {
  close(id);  // queue IDs are reused for other messages
  if (messages_.size() >= most_open_) {
    if (messages_.front().counts && !messages_.front().is_login) counts_.leave_out(LeftOut::open);
    by_id_.erase(messages_.front().id);
    messages_.pop_front();
  }
  messages_.push_back({.id = std::move(id)});
  messages_.back().mark = mark_of({}, messages_.back().id, true);
  messages_.back().mark.day = day;
  by_id_.emplace(messages_.back().id, std::prev(messages_.end()));
  return messages_.back();
}

void OpenMessages::close(const std::string& id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  const At at = found->second;
  by_id_.erase(found);
  messages_.erase(at);
}

void OpenMessages::leave_out(Message& message, LeftOut reason) noexcept {
  if (message.counts) counts_.leave_out(reason);
  message.counts = false;
}

void OpenMessages::receive(const LogEvent& event) {
  std::string id = id_of(event.host, event.queue_id);
  std::string login(event.login);
  bool counts = !login.empty();
  std::optional<Day> day = event.day;
  if (!event.origin.empty()) {  // a content filter returns it
    Message* const before = find(id_of(event.host, event.origin));
    if (before != nullptr) {
      before->is_handed_on = true;
      day = before->mark.day;
      if (login.empty()) login = before->login;
      // Whatever the reason was to leave the message out, this is the same message.
      if (!before->counts) return close(id);
      counts = true;
    }
  }
  if (counts || rules_.without_login) {
    open(std::move(id), day).login = std::move(login);
  } else {
    close(id);
    counts_.leave_out(LeftOut::no_login);
  }
}

void OpenMessages::set_mark(Message& message, std::string_view message_id) {
  const std::vector<std::string_view> ids = message_ids(message_id);
  const std::optional<Day> day = message.mark.day;
  message.mark = mark_of(ids.size() == 1 ? ids.front() : "", message.id, true);
  message.mark.day = day;
}

void OpenMessages::set_sender(const LogEvent& event) {
  const std::string id = id_of(event.host, event.queue_id);
  Message* message = nullptr;
  if (event.is_sendmail) {
    const Message* const client = find(login_of(event));
    if (!rules_.without_login && client == nullptr) {
      close(id);
      counts_.leave_out(LeftOut::no_login);
      return;
    }
    std::string login = client != nullptr ? client->login : std::string();
    message = &open(id, event.day);
    message->login = std::move(login);
    message->recipients = event.recipients;
    set_mark(*message, event.message_id);
  } else {
    message = find(id);
  }
  if (message == nullptr || !message->counts) return;
  const Entry sender = canonicalize_path(event.text);
  if (sender.kind() == EntryKind::null_sender) return leave_out(*message, LeftOut::null_sender);
  if (sender.kind() != EntryKind::address || !rules_.own_domains.contains(sender.domain())) {
    return leave_out(*message, LeftOut::foreign_sender);
  }
  if (!may_write_as(*message, sender.key())) return leave_out(*message, LeftOut::other_sender);
  if (event.recipients > rules_.most_recipients) return leave_out(*message, LeftOut::many_recipients);
  message->user = user_of(*message, sender.key());
  message->sender = sender.local_part();
}

std::string OpenMessages::user_of(const Message& message, std::string_view sender) const {
  if (rules_.needs_user || message.login.empty()) return std::string(sender);
  std::vector<std::string> addresses =
      addresses_ != nullptr ? addresses_->of(message.login) : OwnerAddresses(rules_.own_domains).of(message.login);
  return addresses.empty() ? message.login : std::move(addresses.front());
}

bool OpenMessages::may_write_as(const Message& message, std::string_view sender) const {
  if (addresses_ == nullptr || message.login.empty()) return true;
  return addresses_->may_write_as(message.login, sender);
}

bool OpenMessages::is_sender(const Message& message, std::string_view alias) {
  const Entry address = canonicalize_path(alias);
  // Its domain may be that of the host, if the sender's domain was rewritten.
  if (address.kind() == EntryKind::address) return address.local_part() == message.sender;
  return ascii::equal_ignoring_case(alias, message.sender);
}

void OpenMessages::add_recipient(Message& message, std::string_view path) {
  if (!add_contact(canonicalize_path(path), Users(&message.user, 1), message.mark, rules_, counts_, sink_) ||
      message.counted)
    return;
  ++counts_.messages;
  ++counts_.log_messages;
  message.counted = true;
}

void OpenMessages::finish(const LogEvent& event) {
  const std::string id = id_of(event.host, event.queue_id);
  Message* const message = find(id);
  if (message == nullptr) return;
  if (message->is_handed_on) return;
  const bool has_user = message->counts && !message->user.empty();
  // The addresses that an alias stands for are not the user's contacts.
  const bool is_alias = !event.alias.empty() && !is_sender(*message, event.alias);
  std::string_view paths = event.text;
  std::uint32_t recipients = 0;
  while (!paths.empty()) {
    const std::string_view path = take_path(paths);
    // Sendmail writes a client's recipient in brackets, as the client does. Without brackets, it writes the content of
    // an alias or a .forward: an address, a file, a program. For a message from the queue, nothing else shows this.
    if (event.is_sendmail && !path.starts_with('<')) continue;
    ++recipients;
    if (!has_user) continue;
    if (event.kind != LogEventKind::delivered) {
      counts_.leave_out(LeftOut::not_delivered);
    } else if (!is_alias) {
      add_recipient(*message, path);
    }
  }
  if (has_user && is_alias && event.kind == LogEventKind::delivered) add_recipient(*message, event.alias);
  if (!event.is_sendmail) return;
  // Sendmail does not log when a message is complete.
  if (recipients >= message->recipients) return close(id);
  message->recipients -= recipients;
}

void OpenMessages::use(const LogEvent& event) {
  if (event.kind == LogEventKind::automatic) ++counts_.automatic_marks;
  if (messages_.empty() && event.kind != LogEventKind::received && event.kind != LogEventKind::sender &&
      event.kind != LogEventKind::login) {
    return;
  }
  switch (event.kind) {
    case LogEventKind::received:
      return receive(event);
    case LogEventKind::sender:
      return set_sender(event);
    case LogEventKind::login: {
      Message& client = open(login_of(event), event.day);
      client.is_login = true;
      client.login = event.login;
      return;
    }
    case LogEventKind::message_id:
      if (Message* const message = find(id_of(event.host, event.queue_id))) set_mark(*message, event.message_id);
      return;
    case LogEventKind::automatic:
      if (Message* const message = find(id_of(event.host, event.queue_id))) leave_out(*message, LeftOut::automatic);
      return;
    case LogEventKind::delivered:
    case LogEventKind::failed:
      return finish(event);
    case LogEventKind::removed:
      return close(id_of(event.host, event.queue_id));
  }
}

// The state that OpenMessages keeps between two runs: a line for each message, `DAY BEGAN FLAGS RECIPIENTS ID USER
// LOGIN` with tabs between them; BEGAN is the day of its first line, or `-`. The position in the journal and these
// lines are written together, so no message is missed or counted twice. A line of a login with a tab in it is not read.
std::string OpenMessages::under_way(Day today) const {
  std::string lines;
  for (const Message& each : messages_) {
    // A connection never lasts from one run to the run after the next.
    if (each.is_login && each.since) continue;
    lines += format_day(each.since.value_or(today)) + '\t' + (each.mark.day ? format_day(*each.mark.day) : "-") + '\t';
    if (each.counts) lines += 'c';
    if (each.is_login) lines += 'l';
    if (each.is_handed_on) lines += 'h';
    if (each.counted) lines += 'd';
    lines += '\t' + std::to_string(each.recipients) + '\t' + each.id + '\t' + each.user + '\t' + each.login + '\n';
  }
  return lines;
}

void OpenMessages::resume(std::string_view lines, Day today) {
  messages_.clear();
  by_id_.clear();
  for (std::size_t end; (end = lines.find('\n')) != std::string_view::npos; lines.remove_prefix(end + 1)) {
    const auto fields = fields_of(lines.substr(0, end));
    if (!fields) continue;
    const auto& [day, began, flags, recipients, id, user, login] = *fields;
    const std::optional<Day> since = parse_day(day);
    if (!since || today - *since > kMostDays || id.empty()) continue;
    Message& message = open(std::string(id), parse_day(began));
    std::from_chars(recipients.data(), recipients.data() + recipients.size(), message.recipients);
    message.user = user;
    message.sender = user.substr(0, user.rfind('@'));
    message.login = login;
    message.since = since;
    message.counts = flags.find('c') != std::string_view::npos;
    message.is_login = flags.find('l') != std::string_view::npos;
    message.is_handed_on = flags.find('h') != std::string_view::npos;
    message.counted = flags.find('d') != std::string_view::npos;
  }
}

}  // namespace bloomgate
