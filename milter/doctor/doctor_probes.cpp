#include "milter/doctor/doctor_probes.hpp"

#include <algorithm>
#include <array>

#include "filter/base/ascii.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/mail/mail_header.hpp"

namespace bloomgate {
namespace {

constexpr std::array<std::string_view, 5> kOfDelivery = {"return-path", "delivered-to", "x-original-to", "x-bloomgate",
                                                         "authentication-results"};

// The address in a field's value: the text in angle brackets, or else the whole value.
std::string address_in(std::string_view value) {
  const std::size_t open = value.rfind('<');
  const std::size_t close = value.rfind('>');
  if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
    return std::string(value.substr(open + 1, close - open - 1));
  }
  return std::string(ascii::trimmed(value, " \t\r\n"));
}

std::size_t body_begin(std::string_view content) {
  const std::size_t blank = content.find("\r\n\r\n");
  return blank == std::string_view::npos ? content.size() : blank + 4;
}

// The mail server chooses this word, and it goes into a search of the logs. So only letters and digits are accepted.
std::string plain_word(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" \r\n"));
  return std::ranges::all_of(word, ascii::is_letter_or_digit) ? std::string(word) : std::string();
}

// The value after `name` in a line, up to a space or a comma.
std::string value_after(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + name.size());
  return std::string(rest.substr(0, rest.find_first_of(" ,\n")));
}

}  // namespace

Probe genuine_probe(std::string_view saved) {
  char last = '\0';
  std::string whole = with_crlf(saved, last);
  if (!whole.ends_with("\r\n")) whole += "\r\n";
  std::string_view text = whole;
  if (text.starts_with("From ")) text.remove_prefix(std::min(text.find('\n') + 1, text.size()));  // from a mailbox file
  const std::size_t begin = body_begin(text);
  std::string_view header = text.substr(0, begin);
  Probe probe;
  std::string from;
  while (!header.empty()) {
    const std::string_view field = take_field(header);
    const std::string name = ascii::lower_case(split_field(field).name);
    const std::string_view value = split_field(field).value;
    if (name == "return-path" && probe.sender.empty()) probe.sender = address_in(value);
    if (name == "from") from = address_in(value);
    if (std::ranges::count(kOfDelivery, name) == 0) probe.content.append(field).append("\r\n");
  }
  if (probe.sender.empty()) probe.sender = from;
  probe.content += text.substr(begin);
  return probe;
}

Probe forged_probe(const Probe& genuine, std::string_view server) {
  const std::string domain = genuine.sender.substr(genuine.sender.find('@') + 1);
  const std::size_t begin = body_begin(genuine.content);
  Probe probe{genuine.sender, "X-Bloomgate: deliver; reason=listed\r\n"};
  probe.content += "Authentication-Results: " + std::string(server) + "; dkim=pass header.d=" + domain + "\r\n";
  probe.content += genuine.content.substr(0, begin);
  probe.content += "bloomgate-milter doctor has put in this line: the signature does not cover it.\r\n";
  probe.content += genuine.content.substr(begin);
  return probe;
}

Probe unlisted_probe(std::string_view word, std::string_view recipient) {
  Probe probe{"bloomgate-doctor-" + std::string(word) + "@unlisted-" + std::string(word) + ".example", ""};
  probe.content = "From: <" + probe.sender + ">\r\nTo: <" + std::string(recipient) +
                  ">\r\nSubject: bloomgate-milter doctor: a sender on no list\r\nMessage-ID: <" + std::string(word) +
                  "@bloomgate-doctor.example>\r\n\r\nbloomgate-milter doctor has sent this. It may be deleted.\r\n";
  return probe;
}

std::string queue_id_of(std::string_view reply) {
  constexpr std::string_view kPostfix = "queued as ";
  constexpr std::string_view kSendmail = "250 2.0.0 ";
  if (const std::size_t at = reply.find(kPostfix); at != std::string_view::npos) {
    return plain_word(reply.substr(at + kPostfix.size()));
  }
  if (!reply.starts_with(kSendmail) || reply.find("Message accepted") == std::string_view::npos) return {};
  return plain_word(reply.substr(kSendmail.size()));
}

std::string unreached_milter(std::string_view log) {
  constexpr std::string_view kWords = "warning: connect to Milter service ";
  const std::size_t at = log.rfind(kWords);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = log.substr(at + kWords.size());
  return std::string(rest.substr(0, rest.find_first_of("\r\n")));
}

MessageFate fate_of(std::string_view log, std::string_view queue_id) {
  MessageFate fate;
  const std::string of_daemon = "queue_id=" + std::string(queue_id) + " ";
  const std::string of_postfix = std::string(queue_id) + ": to=<";
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (line.find(of_daemon) != std::string_view::npos) {
      fate.decision = value_after(line, " decision=");
      fate.reason = value_after(line, " reason=");
    } else if (line.find(of_postfix) != std::string_view::npos) {
      fate.delivery = "relay=" + value_after(line, " relay=") + " status=" + value_after(line, " status=");
    }
  }
  return fate;
}

}  // namespace bloomgate
