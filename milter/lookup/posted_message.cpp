#include "milter/lookup/posted_message.hpp"

#include <algorithm>
#include <map>

#include "filter/base/ascii.hpp"
#include "milter/lookup/http_lookup.hpp"
#include "milter/serving/http_messages.hpp"

namespace bloomgate {
namespace {

// A path is longest as RFC 5321 allows it, with parameters of some; more is none.
constexpr std::size_t kMaxPathBytes = 1024;

std::optional<std::string> path_of(std::string_view address) {
  if (address.size() > kMaxPathBytes) return {};
  if (address.starts_with('<')) return address.ends_with('>') ? std::optional(std::string(address)) : std::nullopt;
  return '<' + std::string(address) + '>';
}

// Whether lines end in another way than the first one does.
bool has_mixed_ends(std::string_view header) noexcept {
  const std::size_t first = header.find('\n');
  if (first == std::string_view::npos) return false;
  const bool with_cr = first != 0 && header[first - 1] == '\r';
  for (std::size_t at = first; at != std::string_view::npos; at = header.find('\n', at + 1)) {
    if ((at != 0 && header[at - 1] == '\r') != with_cr) return true;
  }
  return false;
}

}  // namespace

std::optional<PostedEnvelope> posted_envelope(std::string_view query) {
  PostedEnvelope made;
  const std::map<std::string_view, std::string*> texts = {{"helo", &made.helo},
                                                          {"auth-login", &made.login},
                                                          {"daemon-name", &made.daemon_name},
                                                          {"mta-name", &made.mta_name},
                                                          {"queue-id", &made.queue_id}};
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    std::string_view escaped = next_part(query, '&');
    const std::string_view name = next_part(escaped, '=');
    const std::optional<std::string> value = unescaped(escaped);
    if (!value) return {};
    if (name == "to") {
      const std::optional<std::string> path = path_of(*value);
      if (!path || made.to.size() == kMaxPostedRecipients) return {};
      made.to.push_back(*path);
      continue;
    }
    if (std::ranges::find(seen, name) != seen.end()) return {};
    seen.push_back(name);
    if (name == "from") {
      const std::optional<std::string> path = path_of(*value);
      if (!path) return {};
      made.from = *path;
    } else if (name == "client") {
      made.client = parse_ip_address(*value);
      if (!made.client) return {};
    } else if (const auto text = texts.find(name); text != texts.end()) {
      *text->second = *value;
    } else {
      return {};
    }
  }
  return made.from.empty() ? std::nullopt : std::optional(std::move(made));
}

PostedText split_posted(std::string_view text) {
  if (text.starts_with("From ")) return {.fault = "its first line is that of a mailbox file, not of the message"};
  PostedText made;
  std::string_view rest = text;
  for (;;) {
    if (rest.empty()) return {.fault = "its header has no end, which is an empty line"};
    const std::string_view line = take_text_line(rest);
    if (line.empty()) break;
    if (is_folded_line(line)) {
      if (made.fields.empty()) return {.fault = "its header begins with a folded line"};
      made.fields.back().value.append("\n").append(line);
    } else if (starts_field(line)) {
      made.fields.push_back({std::string(line.substr(0, line.find(':'))), std::string(split_field(line).value)});
    } else {
      return {.fault = "a line of its header is no field"};
    }
    if (text.size() - rest.size() > kMaxMessageHeaderBytes) return {.fault = "its header is too long"};
  }
  if (has_mixed_ends(text.substr(0, text.size() - rest.size()))) {
    return {.fault = "some lines of its header end in CR LF, and others in LF alone"};
  }
  made.body = rest;
  return made;
}

}  // namespace bloomgate
