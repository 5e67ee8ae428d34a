#include "filter/contacts/mail_reader.hpp"

#include <algorithm>
#include <cstddef>

#include "filter/base/ascii.hpp"
#include "filter/mail/mail_header.hpp"

namespace bloomgate {
namespace {

// Whether the text begins with a date such as `Fri Nov 20 10:00`.
bool begins_with_date(std::string_view text) noexcept {
  constexpr std::string_view kDays = "Mon Tue Wed Thu Fri Sat Sun";
  constexpr std::string_view kMonths = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
  constexpr std::string_view kForm = "??? ??? 20 10:00";
  if (text.size() < kForm.size()) return false;
  for (std::size_t at = 0; at < kForm.size(); ++at) {
    const bool may_be_blank = at == 8 || at == 11;
    const bool is_same = ascii::is_digit(kForm[at]) ? ascii::is_digit(text[at]) || (may_be_blank && text[at] == ' ')
                                                    : kForm[at] == '?' || kForm[at] == text[at];
    if (!is_same) return false;
  }
  return kDays.find(text.substr(0, 3)) % 4 == 0 && kMonths.find(text.substr(4, 3)) % 4 == 0;
}

// `From ann@ours.example Fri Nov 20 10:00:00 2026` (RFC 4155). A line of a letter may also begin with that word. So the
// day, the month and the time must follow; or nothing at all, as in Thunderbird's files.
bool begins_message(std::string_view line) noexcept {
  constexpr std::string_view kBegin = "From ";
  if (!line.starts_with(kBegin)) return false;
  if (ascii::trimmed_back(line, " \t\r").size() < kBegin.size()) return true;
  for (std::size_t at = line.find(' ', kBegin.size()); at != std::string_view::npos; at = line.find(' ', at + 1)) {
    if (begins_with_date(line.substr(at + 1))) return true;
  }
  return false;
}

}  // namespace

template <typename Header>
void HeadersReader<Header>::read(std::string_view lines) {
  while (!lines.empty() && wants_more()) {
    const std::string_view rest = lines;
    const std::string_view line = take_text_line(lines);
    const bool in_header = place_ == Place::header;
    const std::uint64_t body_bytes = in_header ? 0 : body_bytes_;
    if (is_mbox_ && after_blank_ && body_bytes == 0 && begins_message(line)) {
      finish();
      place_ = Place::header;
    } else if (place_ == Place::body) {
      if (!header_.add_body_line(line)) finish();
    } else if (in_header && !line.empty()) {
      header_.add_line(line);
    } else if (in_header) {
      place_ = Place::body;
      body_bytes_ = header_.body_bytes();
      if (!header_.end_header()) finish();
    }
    body_bytes_ -= std::min(body_bytes, static_cast<std::uint64_t>(rest.size() - lines.size()));
    after_blank_ = line.empty();
  }
}

template <typename Header>
void HeadersReader<Header>::finish() {
  // Before the first message of an mbox there is no header.
  if (place_ != Place::behind && !header_.empty()) harvest(header_);
  header_.clear();
  place_ = Place::behind;
}

template class HeadersReader<MessageHeader>;
template class HeadersReader<ReceivedHeader>;

}  // namespace bloomgate
