// The lists of senders in amavis' configuration, as the program amavis-lists prints them. A line has `amavis`, the
// list, the recipient, the sender and the value, with tabs between them; the last line has `amavis`, `end` and the
// number of the other lines. In amavis' tables `example.org` is that domain alone, and `.example.org` includes its
// subdomains. A text that begins with `@` matches no sender: README.lookups.
#include <array>
#include <charconv>
#include <string>

#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/foreign/foreign_lines.hpp"
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
  if (at == 0 || sender.ends_with('.') || sender.find_first_of("<>\" ") != std::string_view::npos)
    return {.text = {}, .fault = sender == "." ? "it would list every sender" : "amavis never finds a sender by it"};
  if (at != std::string_view::npos && at + 1 == sender.size())
    return {.text = {}, .fault = "a name without a domain, at every domain"};
  if (at != std::string_view::npos) return entry_of_text(std::string(sender));
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

// Fewer points would help a message little in amavis, but spare it the whole check here.
constexpr double kLeastPoints = 1;

std::optional<double> points_of(std::string_view value) noexcept {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return number;
}

constexpr std::string_view kBlocked = "a blocked sender; the daemon's option 'revoked' is for those";

class AmavisReader {
 public:
  explicit AmavisReader(ForeignList& list) : list_(list) {}

  void read(std::uint64_t number, const Fields& fields) {
    number_ = number;
    sender_ = fields[kSender];
    item_ = std::string(fields[kList]) + ' ' + std::string(fields[kSender]) + ' ' + std::string(fields[kValue]);
    const bool is_for_all = fields[kRecipient] == ".";
    const bool is_true = !fields[kValue].empty() && fields[kValue] != "0";
    if (fields[kList] == "white") {
      is_true ? take(entry_of_sender(sender_), true, is_for_all) : block("an exception");
    } else if (fields[kList] == "black") {
      is_true ? block(kBlocked) : list_.leave_out(number_, item_, "an exception from blocked senders");
    } else if (fields[kList] == "spared") {
      is_true ? take(entry_of_author(sender_), false, is_for_all)
              : block("its policy bank does not spare mail the spam check");
    } else if (fields[kList] == "score") {
      read_points(fields[kValue], is_for_all);
    } else if (fields[kList] == "unknown-block") {
      list_.block_unknown(number_, item_, "senders that are blocked or excepted there");
    } else {
      list_.leave_out(number_, item_, "it cannot be known which senders these are");
    }
  }

 private:
  void read_points(std::string_view value, bool is_for_all) {
    const std::optional<double> points = points_of(value);
    if (!points) return list_.block_unknown(number_, item_, "its points are not a number");
    if (*points >= 0) return block("its points make mail worse, not better");
    if (*points > -kLeastPoints) return list_.leave_out(number_, item_, "less than one point");
    take(entry_of_sender(sender_), true, is_for_all);
  }

  void take(SenderEntry entry, bool was_unproven, bool is_for_all) {
    if (!is_for_all) return list_.leave_out(number_, item_, "for one recipient, or for some");
    list_.take(number_, item_, std::move(entry), was_unproven);
  }

  void block(std::string_view reason) {
    const SenderEntry entry = entry_of_author(sender_);
    if (sender_.starts_with('@')) return list_.leave_out(number_, item_, entry.fault);
    // A top-level domain has no entry.
    if (entry.text.empty() && sender_.starts_with('.') && sender_ != ".") {
      return list_.block_glob(number_, item_, '*' + std::string(sender_), reason);
    }
    list_.block(number_, item_, entry, reason);
  }

  ForeignList& list_;
  std::uint64_t number_ = 0;
  std::string_view sender_;
  std::string item_;
};

}  // namespace

void read_amavis(std::string_view text, ForeignList& list) {
  AmavisReader reader(list);
  std::uint64_t lines = 0;
  bool is_whole = false;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_foreign_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    if (line == "amavis\tend\t" + std::to_string(lines)) {
      is_whole = true;
      continue;
    }
    is_whole = false;
    ++lines;
    if (const auto fields = fields_of(line)) {
      reader.read(number, *fields);
    } else {
      list.leave_out(number, line, "not a line of amavis-lists");
    }
  }
  if (is_whole) return;
  throw BloomgateError(ErrorCode::bad_input, "what amavis-lists has printed was cut off: its last line is missing");
}

}  // namespace bloomgate
