#include "filter/cli/harvest/mail_reader.hpp"

#include "filter/base/ascii.hpp"

namespace bloomgate::cli {
namespace {

// `From ann@ours.example Fri Nov 20 10:00:00 2026` (RFC 4155). A line of a letter may begin with the word, too.
bool begins_message(std::string_view line) noexcept {
  if (!line.starts_with("From ")) return false;
  const std::size_t colon = line.find(':');
  const auto has_digit = [&](std::size_t at) { return at < line.size() && ascii::is_digit(line[at]); };
  return colon != std::string_view::npos && has_digit(colon - 1) && has_digit(colon + 1);
}

}  // namespace

template <typename Header>
void HeadersReader<Header>::read(std::string_view lines) {
  while (!lines.empty() && wants_more()) {
    const std::string_view line = take_line(lines);
    if (is_mbox_ && after_blank_ && begins_message(line)) {
      finish();
      in_header_ = true;
    } else if (in_header_ && line.empty()) {
      finish();
    } else if (in_header_) {
      header_.add_line(line);
    }
    after_blank_ = line.empty();
  }
}

template <typename Header>
void HeadersReader<Header>::finish() {
  // Before the first message of an mbox there is none.
  if (in_header_ && !header_.empty()) harvest(header_);
  header_.clear();
  in_header_ = false;
}

template class HeadersReader<MessageHeader>;
template class HeadersReader<ReceivedHeader>;

}  // namespace bloomgate::cli
