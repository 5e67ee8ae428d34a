#include "filter/cli/harvest/mail_reader.hpp"

#include "filter/base/ascii.hpp"

namespace bloomgate::cli {
namespace {

// `From ann@ours.example Fri Nov 20 10:00:00 2026` (RFC 4155). A line of a letter may begin with the word, too, so the
// day, the month and the time have to be there.
bool begins_message(std::string_view line) noexcept {
  if (!line.starts_with("From ")) return false;
  const std::size_t colon = line.find(':');
  constexpr std::string_view kBeforeColon = "Fri Nov 20 10";
  if (colon == std::string_view::npos || colon < kBeforeColon.size() + 1 || colon + 2 >= line.size()) return false;
  const std::string_view date = line.substr(colon - kBeforeColon.size(), kBeforeColon.size());
  constexpr std::string_view kDays = "Mon Tue Wed Thu Fri Sat Sun";
  constexpr std::string_view kMonths = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
  const auto is_number = [&](std::size_t at) {
    return (ascii::is_digit(date[at]) || date[at] == ' ') && ascii::is_digit(date[at + 1]);
  };
  return line[colon - kBeforeColon.size() - 1] == ' ' && kDays.find(date.substr(0, 3)) % 4 == 0 && date[3] == ' ' &&
         kMonths.find(date.substr(4, 3)) % 4 == 0 && date[7] == ' ' && is_number(8) && date[10] == ' ' &&
         is_number(11) && ascii::is_digit(line[colon + 1]) && ascii::is_digit(line[colon + 2]);
}

}  // namespace

template <typename Header>
void HeadersReader<Header>::read(std::string_view lines) {
  while (!lines.empty() && wants_more()) {
    const std::string_view line = take_line(lines);
    if (is_mbox_ && after_blank_ && begins_message(line)) {
      finish();
      place_ = Place::header;
    } else if (place_ == Place::body) {
      if (!header_.add_body_line(line)) finish();
    } else if (place_ == Place::header && !line.empty()) {
      header_.add_line(line);
    } else if (place_ == Place::header) {
      place_ = Place::body;
      if (!header_.end_header()) finish();
    }
    after_blank_ = line.empty();
  }
}

template <typename Header>
void HeadersReader<Header>::finish() {
  // Before the first message of an mbox there is none.
  if (place_ != Place::behind && !header_.empty()) harvest(header_);
  header_.clear();
  place_ = Place::behind;
}

template class HeadersReader<MessageHeader>;
template class HeadersReader<ReceivedHeader>;

}  // namespace bloomgate::cli
