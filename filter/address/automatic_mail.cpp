#include "filter/address/automatic_mail.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "filter/address/calendar_reply.hpp"
#include "filter/base/ascii.hpp"

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

// Where the word begins, in any case; npos: nowhere.
std::size_t find(std::string_view text, std::string_view word) noexcept {
  const auto is_same = [](char one, char other) { return ascii::to_lower(one) == other; };
  // Not std::ranges::search(), with whose result Clang 14 cannot read the headers of GCC 12.
  const auto* const found = std::search(text.begin(), text.end(), word.begin(), word.end(), is_same);
  return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

bool has(std::string_view text, std::string_view word) noexcept {
  return find(text, word) != std::string_view::npos;
}

bool is_subject_for_leaving(std::string_view value) noexcept {
  value = ascii::trimmed(value, kSpaceAndLineEnds);
  const auto is_letter = [](char byte) {
    return ascii::is_letter_or_digit(byte) || static_cast<unsigned char>(byte) >= 0x80;
  };
  value.remove_prefix(static_cast<std::size_t>(std::ranges::find_if(value, is_letter) - value.begin()));
  const std::string_view word =
      value.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(value, is_letter) - value.begin()));
  return is_one_of(word, {"unsubscribe", "signoff", "abmelden", "abbestellen", "desinscription",
                          "d\xc3\xa9sinscription", "desuscribir"}) ||
         is_one_of(value, {"remove", "remove me", "stop", "leave", "opt out", "opt-out"});
}

}  // namespace

bool says_automatic(std::string_view name, std::string_view value) noexcept {
  name = ascii::trimmed_back(name, " \t");
  const auto is = [name](std::string_view wanted) {
    return name.size() == wanted.size() && ascii::equal_ignoring_case(name, wanted);
  };
  if (is("List-Id") || is("X-Auto-Response-Suppress") || is("X-Autoreply-From") || is("X-Failed-Recipients"))
    return true;
  if (is("Auto-Submitted") || is("X-Autoreply") || is("X-Auto-Reply") || is("X-Autorespond")) {
    return !is_one_of(first_word(value), {"no"});
  }
  if (is("Precedence")) return is_one_of(first_word(value), {"bulk", "list", "junk", "auto_reply", "auto-reply"});
  if (is("Subject")) return is_subject_for_leaving(value);
  return says_report(name, value) || (is("Content-Type") && is_calendar_reply(value));
}

bool says_report(std::string_view name, std::string_view value) noexcept {
  return ascii::equal_ignoring_case(ascii::trimmed_back(name, " \t"), "Content-Type") && has(value, "multipart/report");
}

bool is_for_leaving(std::string_view local_part) noexcept {
  if (has(local_part, "unsubscribe") || has(local_part, "signoff") || has(local_part, "optout")) return true;
  // As a part of its own: nobody's name is meant.
  const auto is_edge = [](char byte) { return !ascii::is_letter_or_digit(byte); };
  for (const std::string_view word : {"unsub", "leave", "opt-out"}) {
    std::string_view rest = local_part;
    for (std::size_t begin = find(rest, word); begin != std::string_view::npos; begin = find(rest, word)) {
      const std::size_t end = begin + word.size();
      const std::size_t before = local_part.size() - rest.size() + begin;
      if ((before == 0 || is_edge(local_part[before - 1])) && (end == rest.size() || is_edge(rest[end]))) return true;
      rest.remove_prefix(end);
    }
  }
  return false;
}

}  // namespace bloomgate
