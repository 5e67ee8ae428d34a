// The lists of senders in amavis' configuration, as the program amavis-lists prints them: `amavis`, the list, the
// recipient, the sender and the value on a line, with tabs between them. In amavis' tables `example.org` is that domain
// alone, and `.example.org` includes its subdomains: README.lookups.
#include <array>
#include <charconv>
#include <string>

#include "filter/base/ascii.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/foreign/foreign_list.hpp"

namespace bloomgate {
namespace {

enum Field : std::uint8_t { kProgram, kList, kRecipient, kSender, kValue, kFields };
using Fields = std::array<std::string_view, kFields>;

std::optional<Fields> fields_of(std::string_view line) noexcept {
  Fields fields;
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::size_t end = line.find('\t');
    if ((end == std::string_view::npos) != (i + 1 == kFields)) return std::nullopt;
    fields[i] = line.substr(0, end);
    line.remove_prefix(std::min(fields[i].size() + 1, line.size()));
  }
  return fields[kProgram] == "amavis" ? std::optional(fields) : std::nullopt;
}

SenderEntry entry_of_sender(std::string_view sender) {
  const std::size_t at = sender.rfind('@');
  if (at != std::string_view::npos && at + 1 == sender.size())
    return {.text = {}, .fault = "a name without a domain, at every domain"};
  if (at != std::string_view::npos) return entry_of_text(std::string(sender));
  if (sender == ".") return {.text = {}, .fault = "it would list every sender"};
  return sender.starts_with('.') ? entry_of_domain(sender.substr(1), true) : entry_of_domain(sender, false);
}

// The signer may follow: `members.example.org/@example.org`.
SenderEntry entry_of_author(std::string_view author) {
  constexpr std::string_view kSigner = "/@";
  const std::size_t end = author.find(kSigner);
  if (end == std::string_view::npos) return entry_of_sender(author);
  const std::string_view signer = author.substr(end + kSigner.size());
  if (signer.empty()) return {.text = {}, .fault = "a signer without a name"};
  return signed_by(entry_of_sender(author.substr(0, end)), signer);
}

bool is_negative(std::string_view value) noexcept {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() && number < 0;
}

// As in Perl.
bool is_true(std::string_view value) noexcept {
  return !value.empty() && value != "0";
}

void read_line(std::uint64_t number, const Fields& fields, ForeignList& list) {
  const std::string item =
      std::string(fields[kList]) + ' ' + std::string(fields[kSender]) + ' ' + std::string(fields[kValue]);
  const bool is_for_all = fields[kRecipient] == ".";
  const auto unless_blocked = [&](bool is_welcome, SenderEntry entry, bool was_unproven, std::string_view reason) {
    if (!is_welcome) return list.block(number, item, entry, reason);
    if (!is_for_all) return list.leave_out(number, item, "for one recipient, or for some");
    list.take(number, item, std::move(entry), was_unproven);
  };
  if (fields[kList] == "white") {
    unless_blocked(is_true(fields[kValue]), entry_of_sender(fields[kSender]), true, "an exception");
  } else if (fields[kList] == "score") {
    unless_blocked(is_negative(fields[kValue]), entry_of_sender(fields[kSender]), true,
                   "its points make mail worse, not better");
  } else if (fields[kList] == "spared") {
    if (!is_true(fields[kValue]))
      return list.leave_out(number, item, "its policy bank does not spare mail the spam check");
    unless_blocked(true, entry_of_author(fields[kSender]), false, {});
  } else if (fields[kList] == "black") {
    if (!is_true(fields[kValue])) return list.leave_out(number, item, "an exception from blocked senders");
    list.block(number, item, entry_of_sender(fields[kSender]),
               "a blocked sender; the daemon's option 'revoked' is for those");
  } else {
    list.leave_out(number, item, "it cannot be said which senders these are");
  }
}

}  // namespace

void read_amavis(std::string_view text, ForeignList& list) {
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    if (const auto fields = fields_of(line)) {
      read_line(number, *fields, list);
    } else {
      list.leave_out(number, line, "not a line of amavis-lists");
    }
  }
}

}  // namespace bloomgate
