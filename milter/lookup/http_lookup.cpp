#include "milter/lookup/http_lookup.hpp"

#include <algorithm>
#include <utility>

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

using LookUp = std::function<SenderStanding(const SenderQuestion&)>;

std::optional<std::string> unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    char byte = text[at];
    if (byte == '%') {
      const int escaped = ascii::hex_byte(text.substr(at + 1));
      if (escaped < 0) return {};
      byte = static_cast<char>(escaped);
      at += 2;
    }
    if (ascii::is_control(byte)) return {};
    plain += byte;
  }
  return plain;
}

void append_word(std::string& words, SenderStanding standing) {
  const std::string_view name = standing_name(standing);
  words.append(name.empty() ? "neither" : name).append("\n");
}

HttpAnswer answer_one(std::string_view query, const LookUp& look_up) {
  const std::optional<NamedSender> named = named_sender(query);
  if (!named) return http_refusal(400, "expected /sender?address=joe@example.org or …&recipient=ann@ours.example");
  HttpAnswer answer;
  append_word(answer.body, look_up({.sender = named->address, .recipient = named->recipient}));
  return answer;
}

HttpAnswer answer_lines(std::string_view lines, const LookUp& look_up) {
  // The last line may lack a line end.
  if (std::ranges::count(lines, '\n') + (lines.empty() || lines.ends_with('\n') ? 0 : 1) >
      static_cast<std::ptrdiff_t>(kMaxPostedLines)) {
    return http_refusal(413, "at most " + std::to_string(kMaxPostedLines) + " lines are answered at once");
  }
  HttpAnswer answer;
  while (!lines.empty()) {
    std::string_view line = next_part(lines, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    append_word(answer.body, look_up(sender_question(line)));
  }
  return answer;
}

}  // namespace

bool asks_for_message(const HttpRequest& request) noexcept {
  return request.target.substr(0, request.target.find('?')) == "/message";
}

std::optional<NamedSender> named_sender(std::string_view query) {
  std::optional<std::string> address;
  std::optional<std::string> recipient;
  while (!query.empty()) {
    std::string_view value = next_part(query, '&');
    const std::string_view name = next_part(value, '=');
    if (name != "address" && name != "recipient") return {};
    std::optional<std::string>& named = name == "address" ? address : recipient;
    if (named) return {};
    named = unescaped(value);
    if (!named) return {};
  }
  if (!address) return {};
  return NamedSender{.address = std::move(*address), .recipient = std::move(recipient).value_or("")};
}

HttpAnswer answer_over_http(const HttpRequest& request, const LookUp& look_up) {
  std::string_view query = request.target;
  const std::string_view path = next_part(query, '?');
  const bool is_one = path == "/sender";
  if (asks_for_message(request)) return http_refusal(405, "/message is for POST");
  if (!is_one && path != "/senders") {
    return http_refusal(
        404,
        "there is /sender?address=joe@example.org, /senders for a POST of many, and /message for one of "
        "a whole message");
  }
  if (is_one == request.posted.has_value()) {
    return http_refusal(
        405, is_one ? "/sender is for GET; POST is for /senders" : "/senders is for POST; GET is for /sender");
  }
  return is_one ? answer_one(query, look_up) : answer_lines(*request.posted, look_up);
}

}  // namespace bloomgate
