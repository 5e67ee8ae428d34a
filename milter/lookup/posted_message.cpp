#include "milter/lookup/posted_message.hpp"

#include <algorithm>
#include <array>

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

// More than RFC 5321 allows.
constexpr std::size_t kMaxPathBytes = 512;
constexpr std::string_view kTooLong = "it is longer than 512 bytes";
constexpr std::size_t kMaxValueBytes = 1024;

bool has_control(std::string_view text) noexcept {
  return std::ranges::any_of(text, ascii::is_control);
}

// With or without angle brackets. In quotes, any character is allowed, elsewhere neither a bracket nor a space.
std::optional<std::string> path_of(std::string_view text) {
  if (has_control(text)) return {};
  if (text.starts_with('<') && text.ends_with('>') && text.size() > 1) text = text.substr(1, text.size() - 2);
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (byte == '"') {
      is_quoted = !is_quoted;
    } else if (is_quoted && byte == '\\') {
      ++at;
    } else if (!is_quoted && (byte == '<' || byte == '>' || byte == ' ')) {
      return {};
    }
  }
  if (is_quoted) return {};
  return '<' + std::string(text) + '>';
}

bool is_text(std::string_view value) noexcept {
  return value.size() <= kMaxValueBytes && !has_control(value);
}

// Where the header ends: after its empty line. 0: it does not end within the limit of a header.
std::size_t header_bytes(std::string_view text) noexcept {
  std::string_view rest = text.substr(0, kMaxPostedHeaderBytes);
  while (!rest.empty()) {
    if (take_text_line(rest).empty() && rest.data() != text.data() + kMaxPostedHeaderBytes) {
      return static_cast<std::size_t>(rest.data() - text.data());
    }
  }
  return 0;
}

// Bytes that some programs treat as the end of a line or of the text, and others do not.
std::string_view fault_of_bytes(std::string_view header) noexcept {
  const std::size_t first = header.find('\n');
  const bool with_cr = first != 0 && header[first - 1] == '\r';
  for (std::size_t at = 0; at < header.size(); ++at) {
    const char byte = header[at];
    if (byte == '\n') {
      const bool has_cr = at != 0 && header[at - 1] == '\r';
      if (has_cr != with_cr) return "some lines of its header end in CR LF, and others in LF alone";
    } else if (byte == '\r') {
      if (!header.substr(at + 1).starts_with('\n')) return "its header has a CR that ends no line";
    } else if (ascii::is_control(byte) && byte != '\t') {
      return "its header has a control character";
    }
  }
  return {};
}

}  // namespace

std::optional<PostedEnvelope> posted_envelope(const HttpFields& fields, std::string& fault) {
  PostedEnvelope made;
  struct Known {
    std::string_view name;
    std::string* text;
  };
  const std::array<Known, 5> texts = {{{"Helo", &made.helo},
                                       {"Auth-Login", &made.login},
                                       {"Daemon-Name", &made.daemon_name},
                                       {"Mta-Name", &made.mta_name},
                                       {"Queue-Id", &made.queue_id}}};
  std::vector<std::string_view> seen;
  const auto refuse = [&fault](std::string_view name, std::string_view why) {
    fault = std::string(name).append(": ").append(why);
    return std::optional<PostedEnvelope>();
  };
  const auto is_first = [&seen](std::string_view name) {
    if (std::ranges::find(seen, name) != seen.end()) return false;
    seen.push_back(name);
    return true;
  };
  for (const auto& [name, value] : fields) {
    if (ascii::equal_ignoring_case(name, "Envelope-To")) {
      if (value.size() > kMaxPathBytes) return refuse("Envelope-To", kTooLong);
      const std::optional<std::string> path = path_of(value);
      if (!path || value.empty()) return refuse("Envelope-To", "expected one address");
      if (made.to.size() == kMaxPostedRecipients) return refuse("Envelope-To", "there are too many");
      made.to.push_back(*path);
    } else if (ascii::equal_ignoring_case(name, "Envelope-From")) {
      if (value.size() > kMaxPathBytes) return refuse("Envelope-From", kTooLong);
      const std::optional<std::string> path = path_of(value);
      if (!path) return refuse("Envelope-From", "expected one address, or nothing for the null sender");
      if (!is_first("Envelope-From")) return refuse("Envelope-From", "it is there twice");
      made.from = *path;
    } else if (ascii::equal_ignoring_case(name, "Client")) {
      made.client = parse_ip_address(value);
      if (!made.client) return refuse("Client", "expected an IP address, such as 192.0.2.1");
      if (!is_first("Client")) return refuse("Client", "it is there twice");
    } else if (const auto known = std::ranges::find_if(
                   texts, [&](const Known& each) { return ascii::equal_ignoring_case(each.name, name); });
               known != texts.end()) {
      if (!is_text(value)) return refuse(known->name, "the value is too long, or has a control character");
      if (!is_first(known->name)) return refuse(known->name, "it is there twice");
      *known->text = value;
    }
  }
  if (made.from.empty()) return refuse("Envelope-From", "it is missing; for the null sender it is there and empty");
  return made;
}

PostedText split_posted(std::string_view text) {
  // A field From may have a space before its colon.
  if (std::string_view rest = text; text.starts_with("From ") && !starts_field(take_text_line(rest)))
    return {.fault = "its first line is that of a mailbox file, not of the message"};
  const std::size_t bytes = header_bytes(text);
  if (bytes == 0) return {.fault = "its header has no end, which is an empty line, or is longer than 1 MiB"};
  std::string_view header = text.substr(0, bytes);
  if (const std::string_view fault = fault_of_bytes(header); !fault.empty()) return {.fault = fault};
  PostedText made;
  for (std::string_view line = take_text_line(header); !line.empty(); line = take_text_line(header)) {
    if (is_folded_line(line)) {
      if (made.fields.empty()) return {.fault = "its header begins with a folded line"};
      made.fields.back().value.append("\n").append(line);
    } else if (!starts_field(line)) {
      return {.fault = "a line of its header is no field"};
    } else if (made.fields.size() == kMaxPostedFields) {
      return {.fault = "its header has more than 5000 fields"};
    } else {
      made.fields.push_back({std::string(line.substr(0, line.find(':'))), std::string(split_field(line).value)});
    }
  }
  made.body = text.substr(bytes);
  return made;
}

}  // namespace bloomgate
