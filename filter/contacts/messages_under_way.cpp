// What OpenMessages keeps between two runs: a line for each message, `DAY BEGAN FLAGS RECIPIENTS ID USER LOGIN` with
// tabs between them; BEGAN is the day of its first line, or `-`. The place in the journal and these lines are written
// together, so no message is missed or counted twice.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "filter/contacts/open_messages.hpp"

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

std::string OpenMessages::under_way(Day today) const {
  std::string lines;
  for (const Message& each : messages_) {
    // A connection does not last from one run to the one after the next.
    if (each.is_login && each.since) continue;
    const std::string texts = each.id + '\t' + each.user + '\t' + each.login;
    if (std::ranges::count(texts, '\t') != 2) continue;
    lines += format_day(each.since.value_or(today)) + '\t' + (each.mark.day ? format_day(*each.mark.day) : "-") + '\t';
    if (each.counts) lines += 'c';
    if (each.is_login) lines += 'l';
    if (each.is_handed_on) lines += 'h';
    if (each.counted) lines += 'd';
    lines += '\t' + std::to_string(each.recipients) + '\t' + texts + '\n';
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
