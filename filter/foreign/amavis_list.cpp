// The maps of senders in amavis' configuration, which is Perl: only what stands in quotes behind the name of a map is
// read, up to the statement's end. Sources: amavisd.conf-sample, README.lookups.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "filter/base/ascii.hpp"
#include "filter/foreign/foreign_list.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kWhite = " \t\r\n";

enum class Map : std::uint8_t { white, scores, banks };

constexpr std::array kMaps = {
    std::pair{std::string_view("@whitelist_sender_maps"), Map::white},
    std::pair{std::string_view("@whitelist_sender_acl"), Map::white},
    std::pair{std::string_view("@score_sender_maps"), Map::scores},
    std::pair{std::string_view("@author_to_policy_bank_maps"), Map::banks},
};

// A key of a map: an address; a domain; `.domain`, which is it and all below it; `user@`, which is at every domain.
SenderEntry entry_of_amavis_key(std::string_view key) {
  if (key == ".") return {.text = {}, .fault = "it would list every sender"};
  if (key.ends_with('@')) return {.text = {}, .fault = "an address at every domain"};
  if (key.find('@') != std::string_view::npos) return entry_of_text(std::string(key));
  return key.starts_with('.') ? entry_of_domain(key.substr(1), true) : entry_of_domain(key, false);
}

class Scanner {
 public:
  Scanner(std::string_view text, ForeignList& list) : text_(text), list_(list) {}

  void run() {
    while (at_ < text_.size()) {
      const char byte = text_[at_];
      if (byte == '#') {
        skip_line();
      } else if (byte == '\'' || byte == '"') {
        read_quoted(byte);
      } else if (byte == ';') {
        map_.reset();
        recipient_.clear();
        ++at_;
      } else if (byte == '@' && begin_map()) {
        continue;
      } else if (map_ && (read_words() || is_call())) {
        continue;
      } else {
        line_ += byte == '\n' ? 1 : 0;
        ++at_;
      }
    }
  }

 private:
  void skip_line() noexcept { at_ = std::min(text_.find('\n', at_), text_.size()); }

  bool begin_map() noexcept {
    for (const auto& [name, map] : kMaps) {
      if (!text_.substr(at_).starts_with(name)) continue;
      map_ = map;
      at_ += name.size();
      return true;
    }
    return false;
  }

  // What is read when amavis starts: another file, or a regular expression.
  bool is_call() {
    for (const std::string_view call : {"read_hash", "read_array", "new_RE", "qr"}) {
      if (!text_.substr(at_).starts_with(call)) continue;
      if (at_ != 0 && ascii::is_letter_or_digit(text_[at_ - 1])) continue;
      const std::size_t end = std::min(text_.find_first_of("\n;", at_), text_.size());
      const bool is_file = call.starts_with("read");
      if (call != "new_RE") {
        list_.leave_out(line_, text_.substr(at_, end - at_),
                        is_file ? "another file: import it, too" : "a regular expression");
        at_ = end;
      } else {
        at_ += call.size();
      }
      return true;
    }
    return false;
  }

  // `qw(one two)`: words without quotes.
  bool read_words() {
    constexpr std::string_view kBegins = "([{<";
    constexpr std::string_view kEnds = ")]}>";
    if (!text_.substr(at_).starts_with("qw") || (at_ != 0 && ascii::is_letter_or_digit(text_[at_ - 1]))) return false;
    const std::size_t begin = text_.find_first_not_of(" \t", at_ + 2);
    if (begin == std::string_view::npos || ascii::is_letter_or_digit(text_[begin])) return false;
    const std::size_t kind = kBegins.find(text_[begin]);
    const std::size_t end =
        std::min(text_.find(kind == std::string_view::npos ? text_[begin] : kEnds[kind], begin + 1), text_.size());
    for (std::size_t at = begin + 1; at < end;) {
      if (text_[at] == '\n') ++line_;
      if (kWhite.find(text_[at]) != std::string_view::npos) {
        ++at;
        continue;
      }
      const std::size_t word_end = std::min(text_.find_first_of(kWhite, at), end);
      take(line_, text_.substr(at, word_end - at), {});
      at = word_end;
    }
    at_ = std::min(end + 1, text_.size());
    return true;
  }

  // In double quotes `\@` is an '@'.
  void read_quoted(char quote) {
    std::string key;
    const std::uint64_t line = line_;
    std::size_t at = at_ + 1;
    for (; at < text_.size() && text_[at] != quote; ++at) {
      if (text_[at] == '\\' && at + 1 < text_.size()) ++at;
      if (text_[at] == '\n') ++line_;
      key += text_[at];
    }
    at_ = std::min(at + 1, text_.size());
    if (!map_) return;
    const std::string_view value = value_behind();
    take(line, key, value);
  }

  // What `=> VALUE` says: a word, what is between quotes, or the bracket that begins more. Empty: nothing.
  std::string_view value_behind() noexcept {
    std::size_t at = std::min(text_.find_first_not_of(kWhite, at_), text_.size());
    if (!text_.substr(at).starts_with("=>")) return {};
    at = std::min(text_.find_first_not_of(kWhite, at + 2), text_.size());
    if (at == text_.size()) return {};
    const bool is_quoted = text_[at] == '\'' || text_[at] == '"';
    std::size_t begin = at;
    std::size_t end = at + 1;
    if (is_quoted) {
      begin = at + 1;
      end = std::min(text_.find(text_[at], begin), text_.size());
    } else {
      while (end < text_.size() && (ascii::is_letter_or_digit(text_[end]) || text_[end] == '.')) ++end;
    }
    const std::size_t next = std::min(end + (is_quoted ? 1 : 0), text_.size());
    line_ += static_cast<std::uint64_t>(std::ranges::count(text_.substr(at_, next - at_), '\n'));
    at_ = next;
    return text_.substr(begin, end - begin);
  }

  void take(std::uint64_t line, std::string_view key, std::string_view value) {
    switch (*map_) {
      case Map::white:
        if (value == "0" || value == "undef") return list_.leave_out(line, key, "its value is false");
        return list_.take(line, key, entry_of_amavis_key(key), true);
      case Map::scores:
        return take_score(line, key, value);
      case Map::banks:
        if (value.find("WHITELIST") == std::string_view::npos)
          return list_.leave_out(line, key, "its bank is not WHITELIST");
        return list_.take(line, key, entry_of_amavis_key(key));
    }
  }

  // A score below 0 is in favour of the sender. A recipient, to whose mail the scores behind it apply, has a bracket
  // behind it; "." is all.
  void take_score(std::uint64_t line, std::string_view key, std::string_view value) {
    double score = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), score);
    if (error != std::errc()) {
      recipient_ = key == "." ? "" : key;
      return;
    }
    if (score >= 0) return list_.leave_out(line, key, "its score is not in favour of the sender");
    SenderEntry entry = entry_of_amavis_key(key);
    if (!recipient_.empty() && !entry.text.empty()) {
      const SenderEntry recipient = entry_of_amavis_key(recipient_);
      if (recipient.text.empty()) return list_.leave_out(line, key, "its recipient is no address and no domain");
      entry = entry_of_text(entry.text + " > " + recipient.text);
    }
    list_.take(line, key, std::move(entry), true);
  }

  std::string_view text_;
  ForeignList& list_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
  std::optional<Map> map_;
  std::string recipient_;  // of the scores that come; empty: all
};

}  // namespace

void read_amavis(std::string_view text, ForeignList& list) {
  Scanner(text, list).run();
}

}  // namespace bloomgate
