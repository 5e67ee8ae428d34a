#include "milter/names/resolv_conf.hpp"

#include <algorithm>
#include <optional>

namespace bloomgate {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";
constexpr std::string_view kKeyword = "nameserver";
constexpr std::size_t kMostLineBytes = 80;  // of an invalid line, for the log

// Removes and returns the first word of the text.
std::string_view take_word(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

void read_line(std::string_view line, std::size_t number, ResolvConf& found) {
  std::string_view rest = line;
  if (take_word(rest) != kKeyword) return;
  if (const std::optional<NameServer> server = parse_name_server(take_word(rest))) {
    const bool is_new = std::ranges::find(found.servers, *server) == found.servers.end();
    if (is_new && found.servers.size() < kMostServers) found.servers.push_back(*server);
  } else if (found.left_out.size() < kMostLeftOut) {
    found.left_out.push_back("line " + std::to_string(number) + ": " + std::string(line.substr(0, kMostLineBytes)));
  }
}

}  // namespace

ResolvConf read_resolv_conf(std::string_view text) {
  ResolvConf found;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    read_line(line, number, found);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return found;
}

}  // namespace bloomgate
