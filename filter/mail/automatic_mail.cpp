#include "filter/mail/automatic_mail.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>

#include "filter/base/ascii.hpp"
#include "filter/mail/calendar_reply.hpp"
#include "filter/mail/transfer_encoding.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kSpaceAndLineEnds = " \t\r\n";

// The first word outside of comments.
std::string_view first_word(std::string_view value) noexcept {
  value = behind_comments(value);
  return value.substr(0, value.find_first_of(" \t\r\n;("));
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) noexcept {
  return std::ranges::any_of(words, [text](std::string_view each) { return ascii::equal_ignoring_case(text, each); });
}

bool has(std::string_view text, std::string_view word) noexcept {
  return ascii::find_ignoring_case(text, word) != std::string_view::npos;
}

// Whether the text has `multipart/report`, with white space and comments where these may be (RFC 2045 section 5.1).
bool is_report(std::string_view text) noexcept {
  constexpr std::string_view kType = "multipart/report";
  std::size_t found = 0;  // of the type
  int depth = 0;          // of comments
  for (const char byte : text) {
    if (byte == '(') ++depth;
    const bool is_between = depth > 0 || kSpaceAndLineEnds.find(byte) != std::string_view::npos;
    if (byte == ')' && depth > 0) --depth;
    if (is_between) continue;
    if (ascii::to_lower(byte) != kType[found]) found = 0;
    if (ascii::to_lower(byte) == kType[found] && ++found == kType.size()) return true;
  }
  return has(text, kType);
}

// A report without the multipart to which it belongs. As a part of a message it may be one that a person forwards.
bool is_report_itself(std::string_view content_type) noexcept {
  const std::string_view type = first_word(content_type);
  return is_one_of(type, {"message/disposition-notification", "message/delivery-status", "message/feedback-report"});
}

// Bytes of a value, as many as there is room for.
class Bytes {
 public:
  void append(char byte) noexcept {
    if (size_ < bytes_.size()) bytes_[size_++] = byte;
  }
  std::string_view view() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<char, 80> bytes_ = {};  // an encoded word has 75
  std::size_t size_ = 0;
};

bool is_of_word(char byte) noexcept {
  return ascii::is_letter_or_digit(byte) || !ascii::is_ascii(byte);
}

// The words of a Subject between white space that have a letter or a digit.
class Words {
 public:
  void append(char byte) noexcept {
    if (kSpaceAndLineEnds.find(byte) != std::string_view::npos) {
      is_in_word_ = false;
    } else if (!is_in_word_ && is_of_word(byte)) {
      is_in_word_ = true;
      ++count_;
    }
    if (count_ > 0) start_.append(byte);
  }
  std::size_t count() const noexcept { return count_; }
  // From the first letter or digit to the last one, as much as there is room for.
  std::string_view text() const noexcept {
    return ascii::trimmed_if(start_.view(), [](char byte) { return !is_of_word(byte); });
  }

 private:
  Bytes start_;
  std::size_t count_ = 0;
  bool is_in_word_ = false;
};

// Removes an encoded word (RFC 2047) from the front of the value. False if it does not begin with one. Of character
// sets other than ASCII, only the letters of ASCII are used.
bool take_encoded_word(std::string_view& value, Words& words) noexcept {
  constexpr std::string_view kStart = "=?";
  constexpr std::string_view kEnd = "?=";
  const std::size_t set_end = value.starts_with(kStart) ? value.find('?', kStart.size()) : std::string_view::npos;
  if (set_end == std::string_view::npos || set_end + 2 >= value.size() || value[set_end + 2] != '?') return false;
  const char encoding = ascii::to_lower(value[set_end + 1]);
  if (encoding != 'q' && encoding != 'b') return false;
  value.remove_prefix(set_end + 3);
  const std::size_t end = std::min(value.find(kEnd), value.size());
  const std::string_view text = value.substr(0, end);
  if (encoding == 'q') decode_quoted_printable(text, [&](char byte) { words.append(byte == '_' ? ' ' : byte); });
  if (encoding == 'b') decode_base64(text, [&](char byte) { words.append(byte); });
  value.remove_prefix(std::min(end + kEnd.size(), value.size()));
  // White space between two encoded words is not part of the text.
  const std::string_view next = ascii::trimmed_front(value, kSpaceAndLineEnds);
  if (next.starts_with(kStart)) value = next;
  return true;
}

// A word without its accented letters, in any character set: `dsinscription`.
Bytes ascii_of(std::string_view text) noexcept {
  Bytes letters;
  for (const char byte : text) {
    if (ascii::is_ascii(byte)) letters.append(byte);
  }
  return letters;
}

// A program that keeps a list reads one word and the list's name. A person writes a sentence: `Afmelden training
// zaterdag`. `Leave` alone is a holiday.
bool is_subject_for_leaving(std::string_view value) noexcept {
  constexpr std::size_t kMostWords = 2;
  Words words;
  while (!value.empty() && words.count() <= kMostWords) {
    if (take_encoded_word(value, words)) continue;
    words.append(value.front());
    value.remove_prefix(1);
  }
  if (words.count() > kMostWords) return false;
  const std::string_view text = words.text();
  const std::size_t end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_of_word) - text.begin());
  return is_one_of(ascii_of(text.substr(0, end)).view(),
                   {"unsubscribe", "unsub", "signoff", "abmelden", "abbestellen", "desinscription", "dsinscription",
                    "desabonnement", "dsabonnement", "desuscribir", "afmelden", "uitschrijven", "disiscrizione"}) ||
         is_one_of(text, {"remove", "remove me", "stop", "opt out", "opt-out", "optout"});
}

// Whether the byte separates parts of a local part that list software makes: `dev-leave`, `bounces+joe`.
bool is_joint(char byte) noexcept {
  return byte == '-' || byte == '+' || byte == '_';
}

// Whether the text has the word between its ends and such bytes: `dev-leave` has `leave`, and `cleaver` does not.
bool has_word(std::string_view text, std::string_view word, bool (*is_edge)(char)) noexcept {
  for (std::size_t at = 0; at + word.size() <= text.size(); ++at) {
    const std::size_t end = at + word.size();
    if ((at == 0 || is_edge(text[at - 1])) && (end == text.size() || is_edge(text[end])) &&
        ascii::equal_ignoring_case(text.substr(at, word.size()), word)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool says_automatic(std::string_view name, std::string_view value) noexcept {
  name = ascii::trimmed_back(name, " \t");
  const auto is = [name](std::string_view wanted) { return ascii::equal_ignoring_case(name, wanted); };
  if (is("List-Id") || is("List-Unsubscribe") || is("X-Auto-Response-Suppress") || says_answered(name, value)) {
    return true;
  }
  if (is("Auto-Submitted")) return !is_one_of(first_word(value), {"no"});
  if (is("Precedence")) return is_one_of(first_word(value), {"bulk", "list", "junk"});
  if (is("Subject")) return is_subject_for_leaving(value);
  return is("Content-Type") && (says_report(name, value) || is_calendar_reply(value) || is_report_itself(value));
}

bool says_answered(std::string_view name, std::string_view value) noexcept {
  name = ascii::trimmed_back(name, " \t");
  const auto is = [name](std::string_view wanted) { return ascii::equal_ignoring_case(name, wanted); };
  if (is("X-Autoreply-From") || is("X-Failed-Recipients")) return true;
  if (is("X-Autoreply") || is("X-Auto-Reply") || is("X-Autorespond")) return !is_one_of(first_word(value), {"no"});
  if (is("Precedence")) return is_one_of(first_word(value), {"auto_reply", "auto-reply"});
  return is("Auto-Submitted") && is_one_of(first_word(value), {"auto-replied"});
}

bool says_report(std::string_view name, std::string_view value) noexcept {
  return ascii::equal_ignoring_case(ascii::trimmed_back(name, " \t"), "Content-Type") && is_report(value);
}

bool is_of_program(std::string_view local_part) noexcept {
  // No person's name contains these.
  constexpr std::string_view kAnywhere[] = {"unsubscribe", "optout",  "abbestell", "desinscription",
                                            "desuscrib",   "noreply", "donotreply"};
  constexpr std::string_view kPhrases[] = {"opt-out",      "no-reply",     "no_reply",    "no.reply",
                                           "do-not-reply", "do_not_reply", "do.not.reply"};
  // A person's name may contain one of these: `john.leave`, `bounce.house`.
  constexpr std::string_view kParts[] = {"unsub", "leave", "signoff", "bounce", "bounces"};
  // A tag, or the name of the list or person, may follow these.
  constexpr std::string_view kBeginnings[] = {"remove", "listserv", "majordomo", "listproc", "mailer-daemon"};
  constexpr std::string_view kRequest = "-request";
  const std::string_view untagged = local_part.substr(0, local_part.find('+'));
  const auto is_edge = [](char byte) { return !ascii::is_letter_or_digit(byte); };
  return std::ranges::any_of(kAnywhere, [=](std::string_view each) { return has(local_part, each); }) ||
         std::ranges::any_of(kPhrases, [=](std::string_view each) { return has_word(local_part, each, is_edge); }) ||
         std::ranges::any_of(kParts, [=](std::string_view each) { return has_word(local_part, each, is_joint); }) ||
         std::ranges::any_of(
             kBeginnings,
             [=](std::string_view each) { return has_word(local_part.substr(0, each.size() + 1), each, is_joint); }) ||
         (untagged.size() > kRequest.size() &&
          ascii::equal_ignoring_case(untagged.substr(untagged.size() - kRequest.size()), kRequest));
}

}  // namespace bloomgate
